// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/scale.h"

#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace commrig::rig {
namespace {

using dtype::Dtype;

TEST(Scale, IntegersAreTruncatedTowardsZeroWhenDivided) {
  std::array<std::int32_t, 4> sums{-7, 7, -1, 8};
  ASSERT_TRUE(divide(Dtype::kInt32, sums.data(), 2, sums.data(), sums.size()));
  EXPECT_EQ(sums, (std::array<std::int32_t, 4>{-3, 3, 0, 4}));
}

TEST(Scale, UnsignedIntegersAreDividedAsSuch) {
  std::array<std::uint64_t, 1> sums{std::numeric_limits<std::uint64_t>::max()};
  ASSERT_TRUE(divide(Dtype::kUint64, sums.data(), 3, sums.data(), 1));
  EXPECT_EQ(sums[0], std::numeric_limits<std::uint64_t>::max() / 3);
}

TEST(Scale, IntegersWrapWhenMultiplied) {
  const std::array<std::int8_t, 2> source{100, -3};
  const std::int8_t factor = 3;
  std::array<std::int8_t, 2> target{};
  ASSERT_TRUE(multiply(Dtype::kInt8, source.data(), &factor, target.data(), 2));
  EXPECT_EQ(target, (std::array<std::int8_t, 2>{44, -9}));
}

TEST(Scale, SmallFloatsAreScaledInFp32AndRoundedOnce) {
  EXPECT_EQ(scaling_type(Dtype::kFp16), Dtype::kFp32);
  EXPECT_EQ(scaling_type(Dtype::kFp8E5m2), Dtype::kFp32);
  EXPECT_EQ(scaling_type(Dtype::kFp64), Dtype::kFp64);
  // 60000 + 60000 is beyond fp16, their average is not.
  std::array<float, 1> sum{120000.0F};
  std::array<std::uint16_t, 1> average{};
  ASSERT_TRUE(divide(Dtype::kFp16, sum.data(), 2, average.data(), 1));
  EXPECT_EQ(average[0], 0x7B53);  // 60000 rounded to fp16
}

TEST(Scale, HalvesAreMultipliedInFp32) {
  const std::uint16_t source = 0x3C01;  // 1 + 2^-10
  const std::uint16_t factor = 0x3C01;
  float target = 0;
  ASSERT_TRUE(multiply(Dtype::kFp16, &source, &factor, &target, 1));
  EXPECT_EQ(target, 1.0009765625F * 1.0009765625F);
}

TEST(Scale, TypesKnownBySizeOnlyAreRefused) {
  std::array<std::byte, 16> element{};
  const Status status = divide(Dtype::kInt128, element.data(), 2, element.data(), 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kNoArithmetic);
}

}  // namespace
}  // namespace commrig::rig
