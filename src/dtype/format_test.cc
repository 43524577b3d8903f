// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/format.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

template <class F>
constexpr Dtype kDtypeOf = Dtype::kFp16;
template <>
constexpr Dtype kDtypeOf<Bf16> = Dtype::kBf16;
template <>
constexpr Dtype kDtypeOf<Fp8E4m3fn> = Dtype::kFp8E4m3fn;
template <>
constexpr Dtype kDtypeOf<Fp8E5m2> = Dtype::kFp8E5m2;

// Counts mismatches instead of asserting each, so that millions of checks stay fast.
template <class F>
class FormatTest : public testing::Test {
 protected:
  void expect(std::uint32_t expected, std::uint32_t found, double input) {
    if (expected == found) return;
    if (++wrong_ < 10) {
      ADD_FAILURE() << std::hexfloat << input << ": expected " << std::hex << expected << ", found "
                    << found;
    }
  }

  void check(float value) {
    expect(reference_.encode(value), narrow<F>(value), value);
    expect(reference_.encode(value), narrow<F>(static_cast<double>(value)), value);
  }

  void check(double value) { expect(reference_.encode(value), narrow<F>(value), value); }

  // Each of the two and what lies beside it, with both signs.
  template <class T>
  void check_around(double value) {
    const T center = static_cast<T>(value);
    for (const T probe : {center, std::nextafter(center, T{0}),
                          std::nextafter(center, std::numeric_limits<T>::infinity())}) {
      check(probe);
      check(-probe);
    }
  }

  const Reference& reference_ = reference(kDtypeOf<F>);

 private:
  int wrong_ = 0;
};

using Formats = testing::Types<Fp16, Bf16, Fp8E4m3fn, Fp8E5m2>;
TYPED_TEST_SUITE(FormatTest, Formats);

TYPED_TEST(FormatTest, EveryInputWidensToItsExactValueAndNansToOne) {
  using F = TypeParam;
  for (std::uint32_t bits = 0; bits < 2 * this->reference_.sign(); ++bits) {
    const float expected = static_cast<float>(this->reference_.decode(bits));
    const auto expected_bits =
        std::isnan(expected) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(expected);
    const float found = widen<F>(static_cast<typename F::Bits>(bits));
    this->expect(expected_bits, std::bit_cast<std::uint32_t>(found), bits);
  }
}

TYPED_TEST(FormatTest, EveryInputSurvivesWideningAndNarrowing) {
  using F = TypeParam;
  for (std::uint32_t bits = 0; bits < 2 * this->reference_.sign(); ++bits) {
    // Infinity of E5M2 and the like is kept; NaNs become the canonical one.
    const auto expected = this->reference_.is_nan(bits) ? this->reference_.nan() : bits;
    const float value = widen<F>(static_cast<typename F::Bits>(bits));
    this->expect(expected, narrow<F>(value), value);
    this->expect(expected, narrow<F>(static_cast<double>(value)), value);
  }
}

TYPED_TEST(FormatTest, ValuesAndMidpointsOfNeighboursAndWhatLiesBesideThemRoundToNearestEven) {
  for (std::uint32_t bits = 0; bits <= this->reference_.max_finite(); ++bits) {
    for (const double value : {this->reference_.decode(bits), this->reference_.midpoint(bits)}) {
      this->template check_around<float>(value);
      this->template check_around<double>(value);
    }
  }
}

// Beside a midpoint by so little that an fp32 in between would be the midpoint itself, from which
// ties go to even: rounding twice gives the wrong neighbour.
TYPED_TEST(FormatTest, Fp64BesideAMidpointIsNotRoundedTwice) {
  using F = TypeParam;
  int traps = 0;
  for (std::uint32_t bits = 0; bits <= this->reference_.max_finite(); ++bits) {
    const double middle = this->reference_.midpoint(bits);
    for (const double nudge : {0x1p-52, 0x1p-40, 0x1p-26, 0x1p-25}) {
      for (const double trap : {middle * (1 + nudge), middle * (1 - nudge)}) {
        this->check(trap);
        this->check(-trap);
        traps += narrow<F>(static_cast<float>(trap)) != narrow<F>(trap);
      }
    }
  }
  EXPECT_GT(traps, 0) << "no trap would have caught rounding twice";
}

TYPED_TEST(FormatTest, EveryNanNarrowsToTheCanonicalOne) {
  for (int bit = 0; bit < 23; ++bit) {
    for (const std::uint32_t base : {0x7F800000U, 0xFF800000U}) {
      this->check(std::bit_cast<float>(base | 1U << bit));
    }
  }
  for (int bit = 0; bit < 52; ++bit) {
    for (const std::uint64_t base : {0x7FF0000000000000U, 0xFFF0000000000000U}) {
      this->check(std::bit_cast<double>(base | std::uint64_t{1} << bit));
    }
  }
}

TYPED_TEST(FormatTest, InfinitiesZerosSubnormalsAndExtremesOfTheSourceAreRounded) {
  using FloatLimits = std::numeric_limits<float>;
  using DoubleLimits = std::numeric_limits<double>;
  for (const float value : {0.0F, FloatLimits::infinity(), FloatLimits::max(), FloatLimits::min(),
                            FloatLimits::denorm_min(), 0x1p-127F, 0x1.8p-133F}) {
    this->check(value);
    this->check(-value);
  }
  for (const double value : {DoubleLimits::infinity(), DoubleLimits::max(), DoubleLimits::min(),
                             DoubleLimits::denorm_min(), 0x1.000002p-149, 0x1p-134}) {
    this->check(value);
    this->check(-value);
  }
  for (std::uint32_t bits = 1; bits < 0x00900000U; bits += 997) {
    this->check(std::bit_cast<float>(bits));
  }
}

TYPED_TEST(FormatTest, AMillionFloatsInPrimeStridesRoundToNearestEven) {
  constexpr std::uint64_t kStride = 4099;
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFF; bits += kStride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    this->expect(this->reference_.encode(value), narrow<TypeParam>(value), value);
  }
}

TYPED_TEST(FormatTest, RandomDoublesInItsRangeRoundToNearestEven) {
  const std::uint64_t seed = seed_from_environment(20'250'101);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  const int range = TypeParam::kBias + TypeParam::kMantissaBits + 3;
  for (int i = 0; i < 100'000; ++i) {
    const double fraction = 1 + rng.uniform();
    this->check(std::ldexp(fraction, static_cast<int>(rng.between(-range, range))));
  }
}

TEST(Format, PublishedValuesOfTheEightBitTypes) {
  EXPECT_EQ(widen<Fp8E4m3fn>(0x7E), 448);
  EXPECT_EQ(widen<Fp8E4m3fn>(0x08), 0x1p-6F);
  EXPECT_EQ(widen<Fp8E4m3fn>(0x01), 0x1p-9F);
  EXPECT_EQ(widen<Fp8E5m2>(0x7B), 57344);
  EXPECT_EQ(widen<Fp8E5m2>(0x01), 0x1p-16F);
}

TEST(Format, E4m3SaturatesAndE5m2OverflowsToInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(narrow<Fp8E4m3fn>(465.0F), 0x7E);
  EXPECT_EQ(narrow<Fp8E4m3fn>(-infinity), 0xFE);
  EXPECT_EQ(narrow<Fp8E5m2>(61439.0F), 0x7B);
  EXPECT_EQ(narrow<Fp8E5m2>(61440.0F), 0x7C);
  EXPECT_EQ(narrow<Fp8E5m2>(-infinity), 0xFC);
}

// The processor's own conversion is the reference.
TEST(Format, Fp64NarrowsToFp32AsTheProcessorDoes) {
  const std::uint64_t seed = seed_from_environment(20'250'102);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  const auto check = [](double value) {
    const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    ASSERT_EQ(narrow<Fp32>(value), std::isnan(value) ? 0x7FC00000U : expected)
        << std::hexfloat << value;
  };
  for (int i = 0; i < 300'000; ++i) {
    check(std::bit_cast<double>(rng.next()));
    const double fraction = (1 + rng.uniform()) * (rng.below(2) == 0 ? 1 : -1);
    check(std::ldexp(fraction, static_cast<int>(rng.between(-152, 130))));
    // Midpoints of fp32 neighbours, and beside them.
    const auto lower = std::bit_cast<float>(static_cast<std::uint32_t>(rng.below(0x7F7FFFFF)));
    const double upper = std::nextafter(lower, std::numeric_limits<float>::infinity());
    const double middle = (lower + upper) / 2;
    check(middle);
    check(std::nextafter(middle, 0));
    check(std::nextafter(middle, upper));
  }
}

static_assert(narrow<Fp16>(1.0F) == 0x3C00 && widen<Bf16>(0xBF80) == -1);

}  // namespace
}  // namespace commrig::dtype
