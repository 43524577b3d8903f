// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/staging.h"

#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/events.h"
#include "base/thread_executor.h"

namespace commrig::comm {
namespace {

class StagingTest : public testing::Test {
 protected:
  bool is_live(const std::byte* memory) { return machine_.memory().resolve(memory, 1).has_value(); }

  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_{executor_, events_, {.bytes_per_device = std::size_t{1} << 20U}};
};

TEST_F(StagingTest, AnAreaIsUsedAgainUntilItIsTooSmall) {
  StagingArea area(machine_);
  std::byte* const first = *area.at_least(1000);
  EXPECT_EQ(*area.at_least(10), first);
  EXPECT_EQ(*area.at_least(1000), first);
  std::byte* const second = *area.at_least(1001);
  EXPECT_NE(second, first);
  EXPECT_EQ(*area.at_least(1500), second);
  EXPECT_FALSE(is_live(first));
  EXPECT_TRUE(is_live(second));
}

TEST_F(StagingTest, AnAreaIsFreedWithItsRank) {
  const std::byte* memory = nullptr;
  {
    StagingArea area(machine_);
    memory = *area.at_least(1000);
  }
  EXPECT_FALSE(is_live(memory));
}

TEST_F(StagingTest, AnAreaThatCannotGrowSaysSoAndGoesOn) {
  StagingArea area(machine_);
  ASSERT_TRUE(area.at_least(1000));
  EXPECT_EQ(area.at_least(std::size_t{1} << 30U).error().code, Code::kOutOfMemory);
  EXPECT_TRUE(area.at_least(1000));
}

TEST_F(StagingTest, DataGoInAndComeBack) {
  std::vector<int> input(300);
  std::iota(input.begin(), input.end(), 0);
  std::vector<int> output(100);
  StagingArea area(machine_);
  Call call{.input = input.data(), .output = output.data()};
  const Staging staging = *Staging::create(area, call, 1200, 400);
  staging.begin(call);
  ASSERT_NE(call.input, input.data());
  const int* const staged = static_cast<const int*>(call.input);
  EXPECT_TRUE(std::equal(input.begin(), input.end(), staged));
  std::copy(staged + 200, staged + 300, static_cast<int*>(call.output));
  staging.end();
  EXPECT_EQ(output.front(), 200);
  EXPECT_EQ(output.back(), 299);
}

TEST_F(StagingTest, BuffersThatAreOneStayOneAndAlignedAsTheyWere) {
  alignas(64) std::array<std::byte, 512> data{};
  StagingArea area(machine_);
  Call call{.input = data.data() + 136, .output = data.data() + 8};
  const Staging staging = *Staging::create(area, call, 128, 384);
  staging.begin(call);
  const auto input = reinterpret_cast<std::uintptr_t>(call.input);
  const auto output = reinterpret_cast<std::uintptr_t>(call.output);
  EXPECT_EQ(input - output, 128U);
  EXPECT_EQ(output % 64, 8U);
}

}  // namespace
}  // namespace commrig::comm
