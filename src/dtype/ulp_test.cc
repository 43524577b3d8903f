// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/ulp.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

TEST(Ulp, IsTheGapAboveEveryFiniteValueOfTheNarrowTypes) {
  for (const Reference& type : references()) {
    for (std::uint32_t bits = 0; bits <= type.max_finite(); ++bits) {
      const double value = type.decode(bits);
      const double gap = 2 * (type.midpoint(bits) - value);
      ASSERT_EQ(ulp(type.dtype(), value), gap) << info(type.dtype()).name << " " << value;
      ASSERT_EQ(ulp(type.dtype(), -(value + gap / 4)), gap) << "between two values";
    }
  }
}

TEST(Ulp, OfFp32AndFp64IsThatOfTheProcessor) {
  for (const double value : {0.0, 1.0, 1.5, 0.75, 3e38, 1e-40, 0x1p-126, 0x1p-149}) {
    const auto narrow_value = static_cast<float>(value);
    EXPECT_EQ(ulp(Dtype::kFp32, narrow_value),
              std::nextafter(narrow_value, std::numeric_limits<float>::infinity()) - narrow_value);
  }
  for (const double value : {0.0, 1.0, 1.5, 1e300, 1e-310, 0x1p-1022}) {
    EXPECT_EQ(ulp(Dtype::kFp64, value),
              std::nextafter(value, std::numeric_limits<double>::infinity()) - value);
  }
}

TEST(Ulp, BeyondTheLargestValueIsThatOfItsBinade) {
  EXPECT_EQ(ulp(Dtype::kFp8E4m3fn, 1e9), 32);
  EXPECT_EQ(ulp(Dtype::kFp16, std::numeric_limits<double>::infinity()), 32);
}

TEST(Ulp, OfIntegersIsOneAndOfNanIsNan) {
  EXPECT_EQ(ulp(Dtype::kInt64, 1e18), 1);
  EXPECT_TRUE(std::isnan(ulp(Dtype::kFp32, std::nan(""))));
}

}  // namespace
}  // namespace commrig::dtype
