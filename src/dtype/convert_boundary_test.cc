// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "dtype/convert.h"
#include "dtype/format.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

using testing::HasSubstr;

// The element `i` of `bytes`, whatever its size.
std::uint32_t bits_at(const std::vector<std::uint16_t>& buffer, std::size_t bytes, std::size_t i) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const char*>(buffer.data()) + i * bytes, bytes);
  return bits;
}

// Converts all of `source` to the type and compares with the reference. Mismatches are counted, so
// that a wrong rounding doesn't print thousands of lines.
template <class T>
void check(Dtype from, const std::vector<T>& source, const Reference& type) {
  const std::size_t bytes = size_of(type.dtype());
  std::vector<std::uint16_t> target(source.size());
  ASSERT_TRUE(convert(from, source.data(), type.dtype(), target.data(), source.size()));
  int wrong = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint32_t expected = type.encode(source[i]);
    const std::uint32_t found = bits_at(target, bytes, i);
    if (expected != found && ++wrong < 10) {
      ADD_FAILURE() << info(type.dtype()).name << " of " << std::hexfloat
                    << static_cast<long double>(source[i]) << ": expected " << std::hex << expected
                    << ", found " << found;
    }
  }
}

// Every value and every midpoint of neighbours, what lies directly beside them, with both signs.
template <class T>
std::vector<T> boundaries(const Reference& type) {
  std::vector<T> source;
  for (std::uint32_t bits = 0; bits <= type.max_finite(); ++bits) {
    for (const double exact : {type.decode(bits), type.midpoint(bits)}) {
      const T center = static_cast<T>(exact);
      for (const T value : {center, std::nextafter(center, T{0}),
                            std::nextafter(center, std::numeric_limits<T>::infinity())}) {
        source.push_back(value);
        source.push_back(-value);
      }
    }
  }
  return source;
}

TEST(ConvertBoundary, Fp32AtAndBesideEveryValueAndMidpointRoundsToNearestEven) {
  for (const Reference& type : references()) check(Dtype::kFp32, boundaries<float>(type), type);
}

TEST(ConvertBoundary, Fp64AtAndBesideEveryValueAndMidpointRoundsToNearestEven) {
  for (const Reference& type : references()) check(Dtype::kFp64, boundaries<double>(type), type);
}

TEST(ConvertBoundary, OverflowBeginsAtTheMidpointAboveTheLargestValue) {
  struct Row {
    Dtype dtype;
    double first;  // halfway between the largest value and the one that would follow
    std::uint32_t below;
    std::uint32_t at;
  };
  // Worked out by hand from the formats. In E4M3 both sides saturate at 448.
  for (const Row& row :
       {Row{Dtype::kFp16, 65520, 0x7BFF, 0x7C00}, Row{Dtype::kBf16, 0x1.FFp127, 0x7F7F, 0x7F80},
        Row{Dtype::kFp8E4m3fn, 464, 0x7E, 0x7E}, Row{Dtype::kFp8E5m2, 61440, 0x7B, 0x7C}}) {
    SCOPED_TRACE(info(row.dtype).name);
    const std::uint32_t sign = reference(row.dtype).sign();
    const double below = std::nextafter(row.first, 0);
    const double source[] = {below, row.first, -below, -row.first};
    std::vector<std::uint16_t> target(4);
    ASSERT_TRUE(convert(Dtype::kFp64, source, row.dtype, target.data(), 4));
    const std::size_t bytes = size_of(row.dtype);
    EXPECT_EQ(bits_at(target, bytes, 0), row.below);
    EXPECT_EQ(bits_at(target, bytes, 1), row.at);
    EXPECT_EQ(bits_at(target, bytes, 2), sign | row.below);
    EXPECT_EQ(bits_at(target, bytes, 3), sign | row.at);
  }
}

// The well-known trick: add half of the last place, less one, plus the last bit that stays.
TEST(ConvertBoundary, FiniteFp32ToBf16IsTheIntegerTrick) {
  std::vector<float> source;
  std::vector<std::uint16_t> expected;
  for (std::uint64_t wide = 0; wide <= 0xFFFFFFFF; wide += 4093) {
    const auto bits = static_cast<std::uint32_t>(wide);
    if ((bits & 0x7F800000U) == 0x7F800000U) continue;
    source.push_back(std::bit_cast<float>(bits));
    expected.push_back(static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U));
  }
  std::vector<std::uint16_t> target(source.size());
  ASSERT_TRUE(convert(Dtype::kFp32, source.data(), Dtype::kBf16, target.data(), target.size()));
  EXPECT_TRUE(target == expected);
}

// Fp32 to fp64 is exact, subnormals included, and no payload or sign of a NaN gets through.
TEST(ConvertBoundary, Fp32WidensExactlyToFp64) {
  std::vector<std::uint32_t> source = {0,          0x80000000, 1,          0x007FFFFF, 0x7F800000,
                                       0xFF800000, 0x7F800001, 0xFFC12345, 0x7FFFFFFF};
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFF; bits += 65'537) {
    source.push_back(static_cast<std::uint32_t>(bits));
  }
  std::vector<std::uint64_t> target(source.size());
  ASSERT_TRUE(convert(Dtype::kFp32, source.data(), Dtype::kFp64, target.data(), target.size()));
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint32_t exponent = (source[i] >> 23U) & 0xFFU;
    const std::uint32_t fraction = source[i] & 0x7FFFFFU;
    double value = exponent == 0
                       ? std::ldexp(fraction, -149)
                       : std::ldexp(fraction + 0x800000U, static_cast<int>(exponent) - 150);
    if (exponent == 0xFF) value = std::numeric_limits<double>::infinity();
    if ((source[i] & 0x80000000U) != 0) value = -value;
    const bool is_nan = exponent == 0xFF && fraction != 0;
    ASSERT_EQ(target[i], is_nan ? 0x7FF8000000000000U : std::bit_cast<std::uint64_t>(value))
        << std::hex << source[i];
  }
}

// The integer nearest to `value` among those with `precision` bits, the even one of two, by integer
// arithmetic alone.
unsigned __int128 nearest(std::uint64_t value, int precision) {
  const int lost = static_cast<int>(std::bit_width(value)) - precision;
  if (lost <= 0) return value;
  const unsigned __int128 step = static_cast<unsigned __int128>(1) << lost;
  const unsigned __int128 lower = value / step * step;
  const unsigned __int128 twice = 2 * (value - lower);
  const bool up = twice > step || (twice == step && lower / step % 2 == 1);
  return up ? lower + step : lower;
}

TEST(ConvertBoundary, SixtyFourBitExtremesAndTiesRoundToNearestEven) {
  std::vector<std::uint64_t> magnitudes = {0, 1, std::numeric_limits<std::uint64_t>::max()};
  for (int top = 1; top < 64; ++top) {
    for (const int precision : {24, 53}) {
      // Half of the last place of a number with this top bit, with an even and an odd last place.
      const int half = top - precision;
      for (const std::uint64_t last : {std::uint64_t{0}, std::uint64_t{1}}) {
        std::uint64_t tie = std::uint64_t{1} << top;
        if (half >= 0) tie |= std::uint64_t{1} << half | last << (half + 1);
        for (const std::uint64_t value : {tie - 1, tie, tie + 1}) magnitudes.push_back(value);
      }
    }
    magnitudes.push_back((std::uint64_t{1} << top) - 1);
    magnitudes.push_back(std::numeric_limits<std::uint64_t>::max() << top);
  }
  std::vector<float> singles(magnitudes.size());
  std::vector<double> doubles(magnitudes.size());
  const auto expect_all = [&](bool is_signed) {
    for (std::size_t i = 0; i < magnitudes.size(); ++i) {
      const bool negative = is_signed && magnitudes[i] >> 63U != 0;
      const std::uint64_t magnitude = negative ? 0 - magnitudes[i] : magnitudes[i];
      // With at most 53 bits, the cast to fp64 is exact; so is the one to fp32 with at most 24.
      const auto single = static_cast<float>(nearest(magnitude, 24));
      const auto wide = static_cast<double>(nearest(magnitude, 53));
      ASSERT_EQ(singles[i], negative ? -single : single) << magnitudes[i];
      ASSERT_EQ(doubles[i], negative ? -wide : wide) << magnitudes[i];
    }
  };
  for (const Dtype from : {Dtype::kInt64, Dtype::kUint64}) {
    SCOPED_TRACE(info(from).name);
    const std::size_t count = magnitudes.size();
    ASSERT_TRUE(convert(from, magnitudes.data(), Dtype::kFp32, singles.data(), count));
    ASSERT_TRUE(convert(from, magnitudes.data(), Dtype::kFp64, doubles.data(), count));
    expect_all(from == Dtype::kInt64);
  }
}

// One above a tie by less than an fp64 holds: rounding to fp64 first would give the tie, and from
// there the even neighbour below.
TEST(ConvertBoundary, SixtyFourBitIntegersToNarrowTypesAreRoundedOnce) {
  const auto low = static_cast<std::int64_t>((std::uint64_t{1} << 62) | (std::uint64_t{1} << 54));
  const std::int64_t source[] = {low, low + 1, -low, -low - 1};
  std::array<std::uint16_t, 4> target{};
  ASSERT_TRUE(convert(Dtype::kInt64, source, Dtype::kBf16, target.data(), 4));
  EXPECT_THAT(target, testing::ElementsAre(0x5E80, 0x5E81, 0xDE80, 0xDE81));
  // The others hold no integer that large: 2^62 overflows, with its sign.
  ASSERT_TRUE(convert(Dtype::kInt64, source, Dtype::kFp16, target.data(), 4));
  EXPECT_THAT(target, testing::ElementsAre(0x7C00, 0x7C00, 0xFC00, 0xFC00));
  std::array<std::uint8_t, 4> bytes{};
  ASSERT_TRUE(convert(Dtype::kInt64, source, Dtype::kFp8E4m3fn, bytes.data(), 4));
  EXPECT_THAT(bytes, testing::ElementsAre(0x7E, 0x7E, 0xFE, 0xFE));
  ASSERT_TRUE(convert(Dtype::kInt64, source, Dtype::kFp8E5m2, bytes.data(), 4));
  EXPECT_THAT(bytes, testing::ElementsAre(0x7C, 0x7C, 0xFC, 0xFC));
}

TEST(ConvertBoundary, EveryNarrowTypeToItselfKeepsAllBitsButThoseOfNans) {
  for (const Reference& type : references()) {
    const std::size_t bytes = size_of(type.dtype());
    const std::uint32_t count = 2 * type.sign();
    std::vector<std::uint16_t> source(count);
    std::vector<std::uint16_t> target(count);
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      std::memcpy(reinterpret_cast<char*>(source.data()) + bits * bytes, &bits, bytes);
    }
    ASSERT_TRUE(convert(type.dtype(), source.data(), type.dtype(), target.data(), count));
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      ASSERT_EQ(bits_at(target, bytes, bits), type.is_nan(bits) ? type.nan() : bits);
    }
  }
}

TEST(ConvertBoundary, EveryPairOfTypesIsEitherConvertedOrRefusedWithBothNames) {
  alignas(8) std::array<std::byte, 16> source{};
  alignas(8) std::array<std::byte, 16> target{};
  int converted = 0;
  for (const DtypeInfo& from : all()) {
    for (const DtypeInfo& to : all()) {
      target.fill(std::byte{9});
      for (const std::size_t count : {0U, 1U}) {
        const Status status = convert(from.dtype, source.data(), to.dtype, target.data(), count);
        if (from.has_arithmetic && to.has_arithmetic && to.element_class == Class::kFloat) {
          EXPECT_TRUE(status) << from.name << " to " << to.name;
          converted += count == 1;
          continue;
        }
        ASSERT_FALSE(status) << from.name << " to " << to.name;
        EXPECT_EQ(status.error().code, Code::kNoArithmetic);
        EXPECT_THAT(status.error().message,
                    HasSubstr(std::string(from.name) + " to " + std::string(to.name)));
        for (const std::byte byte : target) ASSERT_EQ(byte, std::byte{9});
      }
    }
  }
  EXPECT_EQ(converted, 14 * 6);
}

}  // namespace
}  // namespace commrig::dtype
