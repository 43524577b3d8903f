// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/known_calls.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace commrig::comm {
namespace {

class KnownCallsTest : public testing::Test {
 protected:
  void* allocate() { return *memory_.allocate(0, 1024); }
  Call call(void* buffer, std::size_t count = 8) {
    return {.collective = coll::Collective::kBroadcast,
            .input = buffer,
            .output = buffer,
            .count = count};
  }
  void remember(const Call& call) { known_.remember(call, plan_, memory_.generation()); }

  device::Memory memory_{device::MemoryOptions{}};
  KnownCalls known_{memory_};
  std::shared_ptr<const KnownPlan> plan_ = std::make_shared<KnownPlan>();
};

TEST_F(KnownCallsTest, WhatWasRememberedIsFoundWithItsPlan) {
  const Call first = call(allocate());
  EXPECT_EQ(known_.find(first), nullptr);
  remember(first);
  const KnownCall* const known = known_.find(first);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->plan, plan_);
  EXPECT_EQ(known->fingerprint, fingerprint(first));
}

TEST_F(KnownCallsTest, ACallThatDiffersInAnythingIsUnknown) {
  void* const buffer = allocate();
  void* const other = allocate();
  const Call first = call(buffer);
  remember(first);
  using Change = std::function<void(Call&)>;
  const Change changes[] = {
      [](Call& call) { call.collective = coll::Collective::kReduce; },
      [&](Call& call) { call.input = other; },
      [&](Call& call) { call.output = other; },
      [](Call& call) { ++call.count; },
      [](Call& call) { call.dtype = dtype::Dtype::kInt32; },
      [](Call& call) { call.op = dtype::ReduceOp::kMax; },
      [](Call& call) { call.root = 1; },
      [](Call& call) { call.counts = {8}; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    Call changed = first;
    changes[i](changed);
    EXPECT_EQ(known_.find(changed), nullptr) << "change " << i;
  }
  EXPECT_NE(known_.find(first), nullptr);
}

TEST_F(KnownCallsTest, NothingIsKnownOnceMemoryHasChanged) {
  void* const buffer = allocate();
  const Call first = call(buffer);
  remember(first);
  ASSERT_TRUE(memory_.release(buffer));
  EXPECT_EQ(known_.find(first), nullptr);
}

TEST_F(KnownCallsTest, WhatChangedWhileTheCallWasLookedAtCounts) {
  const Call first = call(allocate());
  const std::uint64_t before = memory_.generation();
  allocate();
  known_.remember(first, plan_, before);
  EXPECT_EQ(known_.find(first), nullptr);
}

TEST_F(KnownCallsTest, OfManyCallsTheLastIsKnownAndNoneIsTakenForAnother) {
  void* const buffer = allocate();
  for (std::size_t count = 1; count <= 200; ++count) {
    remember(call(buffer, count));
    ASSERT_NE(known_.find(call(buffer, count)), nullptr) << count;
  }
  int found = 0;
  for (std::size_t count = 1; count <= 200; ++count) {
    const KnownCall* const known = known_.find(call(buffer, count));
    if (known == nullptr) continue;
    EXPECT_EQ(known->call.count, count);
    ++found;
  }
  EXPECT_GT(found, 1);
}

TEST_F(KnownCallsTest, LargeHostMemoryOfAKnownCallIsLookedAtEachTime) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  void* const mapped =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto plan = std::make_shared<KnownPlan>();
  plan->input_count = kBytes / sizeof(float);
  const Call first = call(mapped, kBytes / sizeof(float));
  known_.remember(first, std::move(plan), memory_.generation());
  EXPECT_TRUE(known_.find(first)->host_buffers_are_there());
  ::munmap(mapped, kBytes);
  EXPECT_FALSE(known_.find(first)->host_buffers_are_there());
}

TEST_F(KnownCallsTest, CallsWithCountsAreNotKept) {
  Call first = call(allocate());
  first.counts = {8};
  remember(first);
  EXPECT_EQ(known_.find(first), nullptr);
}

std::size_t resident_pages(void* buffer, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(bytes / page);
  EXPECT_EQ(::mincore(buffer, bytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char state) { return state & 1; }));
}

TEST_F(KnownCallsTest, ALargeDeviceBufferThatIsUsedOftenHasAllItsPages) {
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  void* const buffer = *memory_.allocate(0, kBytes);
  auto plan = std::make_shared<KnownPlan>();
  plan->input_count = plan->output_count = kBytes / 4;
  plan_ = plan;
  const Call large = call(buffer, kBytes / 4);
  remember(large);
  for (int last = KnownCall().calls_until_huge_pages; last > 0; --last) {
    EXPECT_EQ(resident_pages(buffer, kBytes), 0U);
    ASSERT_NE(known_.find(large), nullptr);
  }
  EXPECT_EQ(resident_pages(buffer, kBytes), kBytes / static_cast<std::size_t>(getpagesize()));
}

}  // namespace
}  // namespace commrig::comm
