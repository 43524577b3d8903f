// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/socket.h"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"

namespace commrig {
namespace {

using testing::HasSubstr;

constexpr Nanos kPast{1};  // a deadline that has passed on every machine

struct Pair {
  Listener listener;
  Socket near;
  Socket far;
};

Pair make_pair(ThreadExecutor& executor, int family = AF_INET) {
  Pair pair;
  pair.listener = *Listener::open(Address::loopback(family));
  pair.near = *connect(pair.listener.address(), {executor});
  pair.far = *pair.listener.accept("a test", {executor});
  return pair;
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Runs `body` on a thread of the executor, until the object's end.
class Beside {
 public:
  Beside(ThreadExecutor& executor, std::function<void()> body) : executor_(executor) {
    const Status spawned =
        executor.spawn(Role::kUserCode, "beside", [this, &executor, body = std::move(body)] {
          body();
          done_.store(true);  // From here on, this object may be gone.
          executor.wake(&done_);
        });
    EXPECT_TRUE(spawned);
  }
  ~Beside() {
    const Status status = executor_.wait({.key = &done_, .ready = [this] { return done_.load(); }});
    EXPECT_TRUE(status);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  ThreadExecutor& executor_;
  std::atomic<bool> done_{false};
};

TEST(Socket, MoreBytesThanTheBuffersHoldArriveWholeInBothFamilies) {
  for (const int family : {AF_INET, AF_INET6}) {
    ThreadExecutor executor;
    const Pair pair = make_pair(executor, family);
    const auto sent = pattern(9'000'001);
    std::vector<std::byte> got(sent.size());
    {
      const Beside writer(executor, [&] {
        const Status status = pair.near.write_all(sent, "a pattern", {executor});
        EXPECT_TRUE(status);
      });
      ASSERT_TRUE(pair.far.read_all(got, "a pattern", {executor}));
    }
    EXPECT_EQ(got, sent);
  }
}

TEST(Socket, EndIsAnErrorThatNamesThePeerAndWhatIsMissing) {
  ThreadExecutor executor;
  Pair pair = make_pair(executor);
  ASSERT_TRUE(pair.near.write_all(pattern(3), "bytes", {executor}));
  pair.near.close();
  std::vector<std::byte> got(10);
  const Status status = pair.far.read_all(got, "ten bytes", {executor});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kConnection);
  EXPECT_THAT(status.error().message,
              testing::AllOf(HasSubstr(pair.far.peer()), HasSubstr("7 bytes of ten bytes")));
}

TEST(Socket, WritingToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  ThreadExecutor executor;
  Pair pair = make_pair(executor);
  pair.near.close();
  Status status = ok();
  const auto bytes = pattern(100'000);
  while (status) status = pair.far.write_all(bytes, "bytes", {executor});
  EXPECT_EQ(status.error().code, Code::kConnection);
  EXPECT_THAT(status.error().message, HasSubstr("writing to " + pair.far.peer()));
}

TEST(Socket, RefusedConnectionFailsAtOnceAndNamesTheAddress) {
  ThreadExecutor executor;
  Listener listener = *Listener::open(Address::loopback(AF_INET));
  const Address address = listener.address();
  listener.close();
  const auto socket = connect(address, {executor});
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, Code::kConnection);
  EXPECT_THAT(socket.error().message, HasSubstr(address.to_string() + ": Connection refused"));
}

TEST(Socket, RefusedConnectionIsTriedAgainUntilSomebodyListens) {
  ThreadExecutor executor;
  Listener listener = *Listener::open(Address::loopback(AF_INET));
  const Address address = listener.address();
  listener.close();
  const auto late = connect(address, {executor, nullptr, kPast}, Refused::kTriesAgain);
  EXPECT_EQ(late.error().code, Code::kDeadline);
  EXPECT_THAT(late.error().message, HasSubstr("Connection refused (attempt 1)"));

  const Beside opener(executor, [&] { listener = *Listener::open(address); });
  EXPECT_TRUE(connect(address, {executor}, Refused::kTriesAgain));
}

TEST(Socket, AbortEndsEveryKindOfWait) {
  ThreadExecutor executor;
  const Pair pair = make_pair(executor);
  AbortFlag machine;
  const AbortFlag group(&machine);
  const Waiting waiting{executor, &group};
  std::atomic<int> ended{0};
  const auto expect_abort = [&](const Status& status) {
    EXPECT_EQ(status.error().message, "enough");
    ended.fetch_add(1);
  };
  {
    const Beside reader(executor, [&] {
      std::byte byte{};
      expect_abort(pair.far.read_all({&byte, 1}, "a byte", waiting));
    });
    const Beside writer(
        executor, [&] { expect_abort(pair.near.write_all(pattern(50'000'000), "much", waiting)); });
    const Beside idler(executor,
                       [&] { expect_abort(executor.poll({.what = "nothing", .abort = &group})); });
    machine.raise(Error::make(Code::kAborted, "enough"), executor);
    expect_abort(pair.listener.accept("nobody", waiting).error());
  }
  EXPECT_EQ(ended.load(), 4);
}

TEST(Socket, WhatIsReadyCountsBeforeADeadlineThatHasPassed) {
  ThreadExecutor executor;
  const Pair pair = make_pair(executor);
  ASSERT_TRUE(pair.near.write_all(pattern(1), "a byte", {executor}));
  ASSERT_TRUE(Waiting{executor}.until(pair.far.descriptor(), POLLIN, "a byte"));
  EXPECT_TRUE((Waiting{executor, nullptr, kPast}.until(pair.far.descriptor(), POLLIN, "a byte")));
  const Status late = Waiting{executor, nullptr, kPast}.until(pair.near.descriptor(), POLLIN, "it");
  EXPECT_EQ(late.error().code, Code::kDeadline);
  EXPECT_EQ(late.error().message, "waited for it");
}

TEST(Socket, TakenPortIsNamed) {
  const Listener listener = *Listener::open(Address::loopback(AF_INET));
  const auto second = Listener::open(listener.address());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message,
              HasSubstr(listener.address().to_string() + ": Address already in use"));
}

TEST(Socket, DescriptorsAreClosedOnExecAndDoNotBlock) {
  ThreadExecutor executor;
  const Pair pair = make_pair(executor);
  for (const int descriptor :
       {pair.listener.descriptor(), pair.near.descriptor(), pair.far.descriptor()}) {
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(Socket, NoAddressIsRefused) {
  ThreadExecutor executor;
  EXPECT_EQ(connect(Address(), {executor}).error().code, Code::kBadAddress);
  EXPECT_EQ(Listener::open(Address()).error().code, Code::kBadAddress);
  EXPECT_EQ(Socket::begin_connect(Address()).error().code, Code::kBadAddress);
}

}  // namespace
}  // namespace commrig
