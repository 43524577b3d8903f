// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "dtype/reference.h"
#include "dtype/ulp.h"

namespace commrig::dtype {
namespace {

template <class T>
void check_largest(Dtype dtype) {
  const T largest = std::numeric_limits<T>::max();
  const T gap = largest - std::nextafter(largest, T{0});
  for (const T value : {largest, std::numeric_limits<T>::infinity()}) {
    EXPECT_EQ(ulp(dtype, value), gap);
    EXPECT_EQ(ulp(dtype, -value), gap);
  }
}

TEST(UlpNeighbour, TheLargestValueAndInfinityHaveTheGapBelowTheLargestValue) {
  check_largest<float>(Dtype::kFp32);
  check_largest<double>(Dtype::kFp64);
  for (const Reference& type : references()) {
    const double largest = type.decode(type.max_finite());
    const double gap = largest - type.decode(type.max_finite() - 1);
    EXPECT_EQ(ulp(type.dtype(), -largest), gap) << info(type.dtype()).name;
    EXPECT_EQ(ulp(type.dtype(), std::numeric_limits<double>::infinity()), gap);
  }
}

TEST(UlpNeighbour, RandomFp32AndFp64OfAnySizeHaveTheGapToTheNextValue) {
  const std::uint64_t seed = seed_from_environment(20'250'111);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (int i = 0; i < 100'000; ++i) {
    // Finite and below the largest value; subnormals come with a small share of their own.
    const auto single = std::bit_cast<float>(
        static_cast<std::uint32_t>(rng.below(i % 16 == 0 ? 0x00800000 : 0x7F7FFFFF)));
    ASSERT_EQ(ulp(Dtype::kFp32, -single),
              std::nextafter(single, std::numeric_limits<float>::infinity()) - single)
        << std::hexfloat << single;
    const auto wide =
        std::bit_cast<double>(rng.below(i % 16 == 0 ? 0x0010000000000000 : 0x7FEFFFFFFFFFFFFF));
    ASSERT_EQ(ulp(Dtype::kFp64, wide),
              std::nextafter(wide, std::numeric_limits<double>::infinity()) - wide)
        << std::hexfloat << wide;
  }
}

TEST(UlpNeighbour, EveryIntegerTypeHasOneAndEveryFloatTypeGivesNanForNan) {
  for (const DtypeInfo& row : all()) {
    if (!row.has_arithmetic) continue;
    if (row.element_class == Class::kFloat) {
      EXPECT_TRUE(std::isnan(ulp(row.dtype, std::numeric_limits<double>::quiet_NaN())));
    } else {
      EXPECT_EQ(ulp(row.dtype, 0), 1) << row.name;
      EXPECT_EQ(ulp(row.dtype, -100), 1) << row.name;
    }
  }
}

}  // namespace
}  // namespace commrig::dtype
