// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "dtype/reduce.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

#if __LDBL_MANT_DIG__ >= 113
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif

// One step of a fold by other means: in a type with more than twice the digits, where sums and
// products of two are exact or so close that rounding once more gives what rounding once would
// have.
template <class T>
T step(ReduceOp op, T a, T b) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, Quad>;
  if (op == ReduceOp::kSum) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  if (op == ReduceOp::kProd) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool a_below = a < b || (a == b && std::signbit(a));
  return a_below == (op == ReduceOp::kMax) ? b : a;
}

template <class Bits>
auto decode(Dtype dtype, Bits bits) {
  if constexpr (sizeof(Bits) == 8) {
    return std::bit_cast<double>(bits);
  } else if constexpr (sizeof(Bits) == 4) {
    return std::bit_cast<float>(bits);
  } else {
    return static_cast<float>(reference(dtype).decode(bits));
  }
}

template <class Bits, class Value>
Bits encode(Dtype dtype, Value value) {
  if constexpr (sizeof(Bits) == 8) {
    return std::isnan(value) ? 0x7FF8000000000000U : std::bit_cast<Bits>(value);
  } else if constexpr (sizeof(Bits) == 4) {
    return std::isnan(value) ? 0x7FC00000U : std::bit_cast<Bits>(value);
  } else {
    return static_cast<Bits>(reference(dtype).encode(value));
  }
}

template <class Bits>
void check(Dtype dtype, const std::vector<std::vector<Bits>>& sources) {
  std::vector<const void*> pointers;
  for (const auto& source : sources) pointers.push_back(source.data());
  const std::size_t count = sources[0].size();
  for (const ReduceOpInfo& op : kReduceOps) {
    std::vector<Bits> target(count);
    ASSERT_TRUE(reduce(op.op, dtype, pointers, target.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      auto value = decode(dtype, sources[0][i]);
      for (std::size_t s = 1; s < sources.size(); ++s) {
        value = step(op.op, value, decode(dtype, sources[s][i]));
      }
      const Bits expected = encode<Bits>(dtype, value);
      if (target[i] != expected) {
        FAIL() << op.name << " of " << sources.size() << " " << info(dtype).name << " at " << i
               << ": " << std::hex << +sources[0][i] << " and " << +sources.back()[i] << " give "
               << +target[i] << " instead of " << +expected;
      }
    }
  }
}

// Every value with every value.
template <class Bits>
void check_pairs(Dtype dtype, const std::vector<Bits>& values) {
  std::vector<std::vector<Bits>> sources(2);
  for (const Bits a : values) {
    for (const Bits b : values) {
      sources[0].push_back(a);
      sources[1].push_back(b);
    }
  }
  check(dtype, sources);
}

// Zeros, ones, subnormals, extremes, infinities, NaNs of all kinds and neighbours of these, for an
// IEEE-like type with so many mantissa bits.
template <class Bits>
std::vector<Bits> special_values(int mantissa_bits) {
  const int sign_shift = static_cast<int>(8 * sizeof(Bits)) - 1;
  const auto sign = std::uint64_t{1} << sign_shift;
  const auto hidden = std::uint64_t{1} << mantissa_bits;
  const auto digits = static_cast<std::uint64_t>(mantissa_bits);
  const std::uint64_t infinity = sign - hidden;
  const std::uint64_t one = (infinity >> 1) & ~(hidden - 1);
  std::vector<Bits> values;
  for (const std::uint64_t center :
       {hidden, hidden / 2, 2 * hidden, one, one + hidden / 2, one + hidden, one - hidden,
        one / 2 & ~(hidden - 1), one + one / 2, infinity, infinity - hidden, infinity + hidden / 2,
        one + digits * hidden, one - (digits + 1) * hidden, std::uint64_t{1}}) {
    for (const std::uint64_t magnitude : {center - 1, center, center + 1}) {
      values.push_back(static_cast<Bits>(magnitude));
      values.push_back(static_cast<Bits>(magnitude | sign));
    }
  }
  return values;
}

template <class Bits>
void check_random(Dtype dtype) {
  const std::uint64_t seed = seed_from_environment(20'250'106);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (const std::size_t source_count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 33U}) {
    for (const std::size_t count : {1U, 31U, 1024U, 1025U, 2100U}) {
      std::vector<std::vector<Bits>> sources(source_count, std::vector<Bits>(count));
      // Any bits at even places; at odd ones numbers from 1/2 to 2, whose sums and products round.
      const Bits one = encode<Bits>(dtype, decltype(decode(dtype, Bits{})){1});
      const Bits half = encode<Bits>(dtype, decltype(decode(dtype, Bits{})){0.5});
      for (auto& source : sources) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t near = half + rng.below(2 * std::uint64_t{one} - 2 * half);
          source[i] = static_cast<Bits>(i % 2 == 0 ? rng.next() : near);
        }
      }
      check(dtype, sources);
    }
  }
}

TEST(ReduceFloat, AllPairsOfE4m3) {
  std::vector<std::uint8_t> values;
  for (int bits = 0; bits < 256; ++bits) values.push_back(static_cast<std::uint8_t>(bits));
  check_pairs(Dtype::kFp8E4m3fn, values);
}

TEST(ReduceFloat, AllPairsOfE5m2) {
  std::vector<std::uint8_t> values;
  for (int bits = 0; bits < 256; ++bits) values.push_back(static_cast<std::uint8_t>(bits));
  check_pairs(Dtype::kFp8E5m2, values);
}

TEST(ReduceFloat, SpecialPairsOfFp16) {
  check_pairs(Dtype::kFp16, special_values<std::uint16_t>(10));
}
TEST(ReduceFloat, SpecialPairsOfBf16) {
  check_pairs(Dtype::kBf16, special_values<std::uint16_t>(7));
}
TEST(ReduceFloat, SpecialPairsOfFp32) {
  check_pairs(Dtype::kFp32, special_values<std::uint32_t>(23));
}
TEST(ReduceFloat, SpecialPairsOfFp64) {
  check_pairs(Dtype::kFp64, special_values<std::uint64_t>(52));
}

// Two fp16 add up exactly in fp64, so one exact rounding is the whole truth.
TEST(ReduceFloat, TheSumOfTwoFp16IsTheirExactSumRoundedOnce) {
  const Reference& type = reference(Dtype::kFp16);
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    a.push_back(static_cast<std::uint16_t>(bits));
    b.push_back(static_cast<std::uint16_t>(bits * 40503));
  }
  std::vector<std::uint16_t> target(a.size());
  const void* sources[] = {a.data(), b.data()};
  ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kFp16, sources, target.data(), target.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(target[i], type.encode(type.decode(a[i]) + type.decode(b[i])));
  }
}

TEST(ReduceFloat, RandomSourcesOneToNineAndThirtyThree) {
  check_random<std::uint16_t>(Dtype::kFp16);
  check_random<std::uint16_t>(Dtype::kBf16);
  check_random<std::uint8_t>(Dtype::kFp8E4m3fn);
  check_random<std::uint8_t>(Dtype::kFp8E5m2);
  check_random<std::uint32_t>(Dtype::kFp32);
  check_random<std::uint64_t>(Dtype::kFp64);
}

// 2048 + 1 is a tie that fp16 rounds down; in fp32 the ones add up.
TEST(ReduceFloat, NarrowTypesAreRoundedOnceAtTheEnd) {
  const std::uint16_t big = 0x6800;
  const std::uint16_t one = 0x3C00;
  std::uint16_t target = 0;
  const void* sources[] = {&big, &one, &one, &one};
  ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kFp16, sources, &target, 1));
  EXPECT_EQ(reference(Dtype::kFp16).decode(target), 2052);  // 2051 is a tie: to even
}

TEST(ReduceFloat, SourcesAreAddedInTheOrderGiven) {
  const float values[] = {0x1p24F, 1, 1, -0x1p24F};
  float target = 0;
  const void* forward[] = {&values[0], &values[1], &values[2], &values[3]};
  ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kFp32, forward, &target, 1));
  EXPECT_EQ(target, 0);
  const void* ones_first[] = {&values[1], &values[2], &values[0], &values[3]};
  ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kFp32, ones_first, &target, 1));
  EXPECT_EQ(target, 2);
}

TEST(ReduceFloat, MaxAndMinIgnoreNansAndOrderZeros) {
  const std::uint32_t nan = 0xFFC12345;
  const float zero = 0;
  const float minus_zero = -0.0F;
  std::uint32_t target = 0;
  const auto reduced = [&](ReduceOp op, std::vector<const void*> sources) {
    EXPECT_TRUE(reduce(op, Dtype::kFp32, sources, &target, 1));
    return target;
  };
  EXPECT_EQ(reduced(ReduceOp::kMax, {&nan, &minus_zero, &nan}), 0x80000000);
  EXPECT_EQ(reduced(ReduceOp::kMax, {&minus_zero, &zero, &minus_zero}), 0U);
  EXPECT_EQ(reduced(ReduceOp::kMin, {&zero, &minus_zero, &zero}), 0x80000000);
  EXPECT_EQ(reduced(ReduceOp::kMin, {&nan, &nan}), 0x7FC00000U);
  EXPECT_EQ(reduced(ReduceOp::kSum, {&nan}), 0x7FC00000U) << "one source is canonicalised too";
}

}  // namespace
}  // namespace commrig::dtype
