// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/convert.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>

#include "base/rng.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

using testing::HasSubstr;

constexpr Dtype kFloats[] = {Dtype::kFp16, Dtype::kBf16,      Dtype::kFp32,
                             Dtype::kFp64, Dtype::kFp8E4m3fn, Dtype::kFp8E5m2};

// The bits of one value of `to` that `value` should become; a long double holds every source
// exactly.
std::uint64_t expected_bits(Dtype to, long double value) {
  if (to == Dtype::kFp64) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
    return std::isnan(value) ? 0x7FF8000000000000U : bits;
  }
  if (to == Dtype::kFp32) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::isnan(value) ? 0x7FC00000U : bits;
  }
  return reference(to).encode(value);
}

std::uint64_t bits_at(const std::vector<std::uint64_t>& buffer, Dtype dtype, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const char*>(buffer.data()) + i * size_of(dtype),
              size_of(dtype));
  return bits;
}

double decode(Dtype dtype, std::uint64_t bits) {
  if (dtype == Dtype::kFp64) return std::bit_cast<double>(bits);
  if (dtype == Dtype::kFp32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return reference(dtype).decode(static_cast<std::uint32_t>(bits));
}

// The integer of the type that the lowest bits are.
long double decode_integer(const DtypeInfo& row, std::uint64_t bits) {
  if (row.element_class == Class::kUnsigned) return static_cast<long double>(bits);
  const auto shift = 64 - 8 * row.bytes;
  return static_cast<long double>(static_cast<std::int64_t>(bits << shift) >> shift);
}

TEST(Convert, EveryFloatTypeToEveryOtherRoundsOnce) {
  const std::uint64_t seed = seed_from_environment(20'250'103);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  constexpr std::size_t kCount = 8192;
  std::vector<std::uint64_t> source(kCount);
  std::vector<std::uint64_t> target(kCount);
  for (std::uint64_t& word : source) word = rng.next();
  for (const Dtype from : kFloats) {
    for (const Dtype to : kFloats) {
      SCOPED_TRACE(std::string(info(from).name) + " to " + std::string(info(to).name));
      ASSERT_TRUE(convert(from, source.data(), to, target.data(), kCount));
      for (std::size_t i = 0; i < kCount; ++i) {
        const double value = decode(from, bits_at(source, from, i));
        ASSERT_EQ(bits_at(target, to, i), expected_bits(to, value)) << std::hexfloat << value;
      }
    }
  }
}

// So close to a midpoint that an fp32 in between would be the midpoint itself.
TEST(Convert, Fp64ToNarrowTypesDoesNotPassThroughFp32) {
  for (const Reference& type : references()) {
    std::vector<double> source;
    for (std::uint32_t bits = 0; bits <= type.max_finite(); ++bits) {
      source.push_back(type.midpoint(bits) * (1 + 0x1p-40));
      source.push_back(type.midpoint(bits) * (0x1p-40 - 1));
    }
    std::vector<std::uint64_t> target(source.size());
    ASSERT_TRUE(convert(Dtype::kFp64, source.data(), type.dtype(), target.data(), source.size()));
    for (std::size_t i = 0; i < source.size(); ++i) {
      ASSERT_EQ(bits_at(target, type.dtype(), i), type.encode(source[i])) << source[i];
    }
  }
}

TEST(Convert, EveryIntegerTypeToEveryFloatRoundsOnce) {
  const std::uint64_t seed = seed_from_environment(20'250'104);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  std::vector<std::uint64_t> source;
  // Around the powers of two and around what lies halfway between neighbours of each type.
  for (int top = 0; top < 64; ++top) {
    for (int half = 0; half < top; ++half) {
      const std::uint64_t middle = std::uint64_t{1} << top | std::uint64_t{1} << half;
      for (const std::uint64_t value : {middle - 1, middle, middle + 1}) {
        source.push_back(value);
        source.push_back(0 - value);
      }
    }
    source.push_back(rng.next() >> top);
  }
  source.push_back(0);
  std::vector<std::uint64_t> target(source.size());
  for (const DtypeInfo& row : all()) {
    if (!row.has_arithmetic || row.element_class == Class::kFloat) continue;
    for (const Dtype to : kFloats) {
      SCOPED_TRACE(std::string(row.name) + " to " + std::string(info(to).name));
      ASSERT_TRUE(convert(row.dtype, source.data(), to, target.data(), source.size()));
      for (std::size_t i = 0; i < source.size(); ++i) {
        const long double value = decode_integer(row, bits_at(source, row.dtype, i));
        ASSERT_EQ(bits_at(target, to, i), expected_bits(to, value)) << value;
      }
    }
  }
}

TEST(Convert, ATypeToItselfKeepsTheBitsButForNans) {
  const std::uint16_t source[] = {0x3C00, 0x8000, 0x0001, 0x7C00, 0xFE01, 0x7C01};
  std::uint16_t target[6];
  ASSERT_TRUE(convert(Dtype::kFp16, source, Dtype::kFp16, target, 6));
  EXPECT_THAT(target, testing::ElementsAre(0x3C00, 0x8000, 0x0001, 0x7C00, 0x7E00, 0x7E00));
}

TEST(Convert, WorksInPlaceBetweenTypesOfOneSize) {
  std::int32_t buffer[] = {1, -2, 3};
  ASSERT_TRUE(convert(Dtype::kInt32, buffer, Dtype::kFp32, buffer, 3));
  EXPECT_EQ(std::bit_cast<float>(buffer[1]), -2);
}

void expect_error(const Status& status, Code code, std::string_view message) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, code);
  EXPECT_THAT(status.error().message, HasSubstr(message));
}

TEST(Convert, RefusalsNameTheTypes) {
  std::uint64_t buffer[8] = {};
  const auto try_types = [&](Dtype from, Dtype to) { return convert(from, buffer, to, buffer, 1); };
  expect_error(try_types(Dtype::kFp32, Dtype::kInt32), Code::kNoArithmetic,
               "conversion of fp32 to int32 is refused: only floating-point types");
  expect_error(try_types(Dtype::kInt32, Dtype::kInt32), Code::kNoArithmetic, "int32 to int32");
  expect_error(try_types(Dtype::kHif8, Dtype::kFp32), Code::kNoArithmetic,
               "hif8 to fp32 is refused: hif8 is known by its size only");
  expect_error(try_types(Dtype::kFp32, Dtype::kFp8E8m0), Code::kNoArithmetic,
               "fp8_e8m0 is known by its size only");
  expect_error(try_types(Dtype::kInt128, Dtype::kFp32), Code::kNoArithmetic, "int128");
}

TEST(Convert, BadBuffersAreNamed) {
  alignas(8) char buffer[64] = {};
  expect_error(convert(Dtype::kFp32, nullptr, Dtype::kFp16, buffer, 1), Code::kBadArgument,
               "the source is null");
  expect_error(convert(Dtype::kFp32, buffer, Dtype::kFp16, buffer + 33, 1), Code::kMisaligned,
               "not aligned to the 2 bytes of fp16");
  expect_error(convert(Dtype::kFp32, buffer, Dtype::kFp16, buffer, 4), Code::kBadArgument,
               "overlaps");
  expect_error(convert(Dtype::kFp16, buffer, Dtype::kFp16, buffer + 2, 4), Code::kBadArgument,
               "overlaps");
  EXPECT_TRUE(convert(Dtype::kFp16, buffer, Dtype::kFp16, buffer + 8, 4));
  EXPECT_TRUE(convert(Dtype::kFp32, nullptr, Dtype::kFp16, nullptr, 0));
}

}  // namespace
}  // namespace commrig::dtype
