// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/golden.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace commrig::operators {
namespace {

TEST(Golden, ReadsKnownBitPatterns) {
  const std::array<std::uint16_t, 7> half{0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400, 0x8000, 0x7C00};
  const std::array<double, 7> values{1, -2, 65504, 0x1p-24, 0x1p-14, -0.0, INFINITY};
  for (std::size_t i = 0; i < half.size(); ++i) {
    EXPECT_EQ(golden_value(GoldenType::kFp16, half.data(), i), values[i]);
    EXPECT_EQ(std::signbit(golden_value(GoldenType::kFp16, half.data(), i)),
              std::signbit(values[i]));
  }
  const std::array<std::uint16_t, 4> brain{0x3F80, 0xC049, 0x0001, 0x7FC0};
  EXPECT_EQ(golden_value(GoldenType::kBf16, brain.data(), 0), 1);
  EXPECT_EQ(golden_value(GoldenType::kBf16, brain.data(), 1), -3.140625);
  EXPECT_EQ(golden_value(GoldenType::kBf16, brain.data(), 2), 0x1p-133);
  EXPECT_TRUE(std::isnan(golden_value(GoldenType::kBf16, brain.data(), 3)));
  const std::array<float, 3> single{0.1F, -0x1p-149F, 3e38F};
  for (std::size_t i = 0; i < single.size(); ++i) {
    EXPECT_EQ(golden_value(GoldenType::kFp32, single.data(), i), double{single[i]});
  }
}

TEST(Golden, MultipliesSmallIntegersExactly) {
  const std::array<float, 6> a{1, 2, 3, 4, -5, 6};
  const std::array<double, 6> b{7, 8, -9, 10, 11, 12};
  const GoldenMatrix c = golden_matmul(GoldenType::kFp32, a.data(), b, {2, 3, 2});
  EXPECT_EQ(c.value, (std::vector<double>{22, 64, 139, 54}));
  EXPECT_EQ(c.magnitude, (std::vector<double>{58, 64, 139, 154}));
}

TEST(Golden, UlpIsTheDistanceOfNeighbours) {
  EXPECT_EQ(golden_ulp(GoldenType::kFp16, 1.0), 0x1p-10);
  EXPECT_EQ(golden_ulp(GoldenType::kFp16, -1.99), 0x1p-10);
  EXPECT_EQ(golden_ulp(GoldenType::kFp16, 2.0), 0x1p-9);
  EXPECT_EQ(golden_ulp(GoldenType::kFp16, 0.0), 0x1p-24);
  EXPECT_EQ(golden_ulp(GoldenType::kBf16, 1.0), 0x1p-7);
  EXPECT_EQ(golden_ulp(GoldenType::kFp32, 1.0), 0x1p-23);
}

TEST(Golden, BoundGrowsWithTheInnerSizeAndEndsInOneUlp) {
  EXPECT_EQ(golden_bound(GoldenType::kFp16, 16, 1.0, 2.0), 16 * 0x1p-24 * 2 + 0x1p-10);
  EXPECT_EQ(golden_bound(GoldenType::kFp32, 1U << 20U, 1.0, 2.0), 0x1p14 * 0x1p-24 * 2 + 0x1p-23);
}

}  // namespace
}  // namespace commrig::operators
