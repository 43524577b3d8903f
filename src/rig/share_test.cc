// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/share.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "rig/memory.h"
#include "rig/stream.h"

namespace commrig::rig {
namespace {

using testing::HasSubstr;

constexpr std::size_t kBytes = 10000;

// Another process with memory of its own: forked before this one has made its first call, and
// killed with it.
class Owner : public testing::Environment {
 public:
  void SetUp() override {
    std::array<int, 2> ends{};
    COMMRIG_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
                  "no pair");
    const pid_t test = ::getpid();
    process_ = ::fork();
    COMMRIG_CHECK(process_ >= 0, "no child");
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      if (::getppid() == test) serve(ends[1]);
      ::_exit(1);
    }
    ::close(ends[1]);
    line_ = ends[0];
  }
  void TearDown() override { end(); }

  void end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, -1), nullptr, 0);
    ::close(line_);
  }

  // A new allocation whose bytes are all 7, behind another one.
  ShareHandle allocate() const { return ask<ShareHandle>('a'); }
  // Of the latest one: its byte at kBytes - 1, and its end.
  std::byte last_byte() const { return ask<std::byte>('l'); }
  void release() const { (void)ask<std::byte>('r'); }

 private:
  template <class T>
  T ask(char what) const {
    T answer{};
    COMMRIG_CHECK(::write(line_, &what, 1) == 1, "the owner does not listen");
    COMMRIG_CHECK(::recv(line_, &answer, sizeof(answer), MSG_WAITALL) == sizeof(answer),
                  "the owner does not answer");
    return answer;
  }

  static void serve(int line) {
    void* latest = nullptr;
    for (char what = 0; ::read(line, &what, 1) == 1;) {
      std::byte last{};
      if (what == 'a') {
        (void)*rig::allocate(0, 512);
        latest = *rig::allocate(0, kBytes);
        std::memset(latest, 7, kBytes);
        // In the middle: the handle is the whole allocation's.
        const ShareHandle handle = *share_memory(static_cast<char*>(latest) + 100);
        (void)!::write(line, handle.data(), handle.size());
        continue;
      }
      if (what == 'l') last = static_cast<std::byte*>(latest)[kBytes - 1];
      if (what == 'r') COMMRIG_CHECK(rig::release(latest).has_value(), "not released");
      (void)!::write(line, &last, 1);
    }
  }

  pid_t process_ = -1;
  int line_ = -1;
};

Owner* const owner =
    static_cast<Owner*>(testing::AddGlobalTestEnvironment(new Owner));  // gtest owns it

TEST(Share, MemoryOfAnotherProcessIsTheSameMemory) {
  const Result<void*> opened = open_memory(owner->allocate(), 1);
  ASSERT_TRUE(opened) << to_string(opened.error());
  auto* const bytes = static_cast<std::byte*>(*opened);
  EXPECT_EQ(std::count(bytes, bytes + kBytes, std::byte{7}), kBytes);
  bytes[kBytes - 1] = std::byte{9};
  EXPECT_EQ(owner->last_byte(), std::byte{9});

  const PointerInfo info = pointer_info(bytes + 1);
  EXPECT_EQ(info.kind, MemoryKind::kShared);
  EXPECT_EQ(info.device, 1);
  EXPECT_EQ(info.base, bytes);
  EXPECT_EQ(info.bytes, kBytes);
  EXPECT_TRUE(close_memory(*opened));
  EXPECT_EQ(pointer_info(bytes).kind, MemoryKind::kOrdinary);
}

TEST(Share, StreamsCopyAndFillItWithinItsBounds) {
  const Result<void*> opened = open_memory(owner->allocate(), 0);
  ASSERT_TRUE(opened) << to_string(opened.error());
  auto* const bytes = static_cast<std::byte*>(*opened);
  EXPECT_TRUE(fill_on_stream(nullptr, 0, bytes, 3, kBytes));
  std::array<std::byte, kBytes> copy{};
  EXPECT_TRUE(
      copy_on_stream(nullptr, 0, {.target = copy.data(), .source = bytes, .width = kBytes}));
  EXPECT_EQ(std::count(copy.begin(), copy.end(), std::byte{3}), kBytes);

  const Status beyond = fill_on_stream(nullptr, 0, bytes + 1, 0, kBytes);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, Code::kOutOfRange);
  EXPECT_THAT(beyond.error().message, HasSubstr("shared memory of 10000 bytes"));
  EXPECT_EQ(
      copy_on_stream(nullptr, 0, {.target = copy.data(), .source = bytes + 1, .width = kBytes})
          .error()
          .code,
      Code::kOutOfRange);
  EXPECT_EQ(check_reachable(bytes + 1, kBytes).error().code, Code::kOutOfRange);
  EXPECT_TRUE(check_reachable(bytes, kBytes));
  EXPECT_TRUE(close_memory(*opened));
}

TEST(Share, OpenedTwiceItIsOnePointerUntilTheLastIsClosed) {
  const ShareHandle handle = owner->allocate();
  const Result<void*> first = open_memory(handle, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(*open_memory(handle, 0), *first);
  EXPECT_TRUE(close_memory(*first));
  EXPECT_EQ(pointer_info(*first).kind, MemoryKind::kShared);
  EXPECT_TRUE(close_memory(*first));
  EXPECT_EQ(close_memory(*first).error().code, Code::kShareHandle);
}

TEST(Share, WhatTheOwnerHasFreedIsLostAndStaysReadable) {
  const Result<void*> opened = open_memory(owner->allocate(), 0);
  ASSERT_TRUE(opened);
  owner->release();
  const auto* const bytes = static_cast<const std::byte*>(*opened);
  EXPECT_NE(bytes[5000], std::byte{7});
  EXPECT_TRUE(close_memory(*opened));
}

TEST(Share, OnlyWhatWasOpenedIsClosed) {
  void* const mine = *rig::allocate(0, 64);
  int ordinary = 0;
  const Result<void*> opened = open_memory(owner->allocate(), 0);
  ASSERT_TRUE(opened);
  for (void* const each : {mine, static_cast<void*>(&ordinary), static_cast<void*>(nullptr),
                           static_cast<void*>(static_cast<std::byte*>(*opened) + 1)}) {
    EXPECT_EQ(close_memory(each).error().code, Code::kShareHandle);
  }
  EXPECT_FALSE(rig::release(*opened));
  EXPECT_TRUE(close_memory(*opened));
  EXPECT_TRUE(rig::release(mine));
}

TEST(Share, OnlyDeviceMemoryOfThisProcessIsShared) {
  int ordinary = 0;
  EXPECT_EQ(share_memory(&ordinary).error().code, Code::kShareHandle);
  EXPECT_EQ(share_memory(nullptr).error().code, Code::kShareHandle);
  const Result<void*> opened = open_memory(owner->allocate(), 0);
  ASSERT_TRUE(opened);
  EXPECT_EQ(share_memory(*opened).error().code, Code::kShareHandle);
  EXPECT_TRUE(close_memory(*opened));
}

TEST(Share, AHandleOfThisProcessIsRefused) {
  void* const mine = *rig::allocate(0, 64);
  const Result<void*> opened = open_memory(*share_memory(mine), 0);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("a handle of this process"));
  EXPECT_TRUE(rig::release(mine));
}

// Whatever of it is wrong, the result is an error or memory that is there.
TEST(Share, SpoiledHandlesAreRefusedOrHarmless) {
  const ShareHandle good = owner->allocate();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const std::byte change : {std::byte{1}, std::byte{0x40}, std::byte{0xFF}}) {
      ShareHandle bad = good;
      bad[i] ^= change;
      const Result<void*> opened = open_memory(bad, 0);
      if (!opened) {
        ASSERT_EQ(opened.error().code, Code::kShareHandle);
        continue;
      }
      const PointerInfo info = pointer_info(*opened);
      ASSERT_EQ(info.kind, MemoryKind::kShared);
      ASSERT_TRUE(close_memory(*opened));
    }
  }
  EXPECT_EQ(open_memory({}, 0).error().code, Code::kShareHandle);
}

// The last one, since the owner ends.
TEST(ShareEnd, MemoryStaysAndHandlesEndWithTheOwner) {
  const ShareHandle handle = owner->allocate();
  const Result<void*> opened = open_memory(handle, 0);
  ASSERT_TRUE(opened);
  const ShareHandle other = owner->allocate();
  owner->end();
  EXPECT_EQ(static_cast<const std::byte*>(*opened)[0], std::byte{7});
  EXPECT_TRUE(close_memory(*opened));
  const Result<void*> late = open_memory(other, 0);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kShareHandle);
  EXPECT_THAT(late.error().message, HasSubstr("memory of process"));
}

}  // namespace
}  // namespace commrig::rig
