// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace commrig::cli::run {
namespace {

// A pipe whose reading end does not block.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
  std::string read() const {
    std::string text(1 << 16, '\0');
    const ssize_t count = ::read(reader.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }
  Descriptor reader;
  Descriptor writer;
};

TEST(Output, ComesInTheOrderInWhichItWasAdded) {
  const Pipe pipe;
  const Descriptor other(::dup(pipe.writer.get()));
  Output output;
  output.add(pipe.writer.get(), "one\n");
  output.add(other.get(), "two\n");
  output.add(pipe.writer.get(), "");
  output.add(pipe.writer.get(), "three\n");
  while (!output.empty()) output.write_some();
  EXPECT_EQ(pipe.read(), "one\ntwo\nthree\n");
  EXPECT_EQ(output.descriptor(), -1);
}

TEST(Output, WhatCannotBeWrittenIsSaidAndAReaderThatHasGoneIsNot) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  Output output;
  pipe.reader.reset();
  output.add(pipe.writer.get(), "one\n");
  output.write_some();
  EXPECT_TRUE(output.closed(pipe.writer.get()));
  EXPECT_FALSE(output.failure().has_value());

  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  output.add(full.get(), "two\n");
  output.write_some();
  EXPECT_TRUE(output.empty());
  ASSERT_TRUE(output.failure().has_value());
  EXPECT_EQ(output.failure()->code, Code::kSystemCall);
  EXPECT_THAT(output.failure()->message, testing::HasSubstr("No space left on device"));
}

TEST(Output, WhatDoesNotFitWaits) {
  const Pipe pipe;
  Output output;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  output.add(pipe.writer.get(), text);
  std::string got;
  while (!output.empty()) {
    EXPECT_EQ(output.descriptor(), pipe.writer.get());
    for (int i = 0; i < 40; ++i) output.write_some();  // more than fits
    got += pipe.read();
  }
  EXPECT_EQ(got, text);
}

TEST(Output, IsFullUntilItIsWritten) {
  const Pipe pipe;
  Output output;
  output.add(pipe.writer.get(), std::string(Output::kBytesMax, 'x'));
  EXPECT_TRUE(output.full());
  output.write_some();
  EXPECT_FALSE(output.full());
}

TEST(Output, ReaderThatHasGoneIsNoTroubleForTheOther) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe gone;
  const Pipe good;
  Output output;
  output.add(gone.writer.get(), "lost\n");
  output.add(good.writer.get(), "kept\n");
  output.add(gone.writer.get(), "lost\n");
  gone.reader.reset();
  while (!output.empty()) output.write_some();
  EXPECT_TRUE(output.closed(gone.writer.get()));
  output.add(gone.writer.get(), "dropped\n");
  EXPECT_TRUE(output.empty());
  EXPECT_FALSE(output.full());
  EXPECT_EQ(good.read(), "kept\n");
}

}  // namespace
}  // namespace commrig::cli::run
