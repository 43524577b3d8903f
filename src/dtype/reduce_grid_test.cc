// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <bit>
#include <cmath>
#include <limits>
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

// In a type wide enough that rounding its result once more gives what rounding the exact sum or
// product once would have given: fp64 for fp32 (also where narrow types are computed with in it),
// 113 bits for fp64.
template <class Wide, class Value>
Value expected_of(ReduceOp op, Value a, Value b) {
  const Value wide_sum = static_cast<Value>(static_cast<Wide>(a) + static_cast<Wide>(b));
  const Value wide_product = static_cast<Value>(static_cast<Wide>(a) * static_cast<Wide>(b));
  if (op == ReduceOp::kSum) return wide_sum;
  if (op == ReduceOp::kProd) return wide_product;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) == (op == ReduceOp::kMin) ? a : b;
  return (a < b) == (op == ReduceOp::kMin) ? a : b;
}

struct Narrow16 {
  using Bits = std::uint16_t;
  using Wide = double;
  const Reference& type;
  float decode(Bits bits) const { return static_cast<float>(type.decode(bits)); }
  Bits encode(float value) const { return static_cast<Bits>(type.encode(value)); }
};

template <class Value, class Unsigned, class WideValue>
struct Native {
  using Bits = Unsigned;
  using Wide = WideValue;
  static Value decode(Bits bits) { return std::bit_cast<Value>(bits); }
  static Bits encode(Value value) {
    constexpr int kMantissa = std::numeric_limits<Value>::digits - 1;
    // All ones from the quiet bit to the top of the exponent.
    constexpr Bits kNan = std::numeric_limits<Bits>::max() / 2 >> (kMantissa - 1)
                                                                      << (kMantissa - 1);
    return std::isnan(value) ? kNan : std::bit_cast<Bits>(value);
  }
};

// Zeros, subnormals, the smallest normal, one, the largest value, infinity, a signaling NaN with a
// payload and a quiet one, each with both signs, and 200 random values.
template <class Bits>
std::vector<Bits> grid(Bits hidden, Rng& rng) {
  constexpr Bits kMax = std::numeric_limits<Bits>::max() / 2;
  const auto infinity = static_cast<Bits>(kMax / hidden * hidden);
  const auto one = static_cast<Bits>(infinity / 2 / hidden * hidden);
  std::vector<Bits> values;
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{hidden} - 1, std::uint64_t{hidden},
        std::uint64_t{one}, std::uint64_t{infinity} - 1, std::uint64_t{infinity},
        std::uint64_t{infinity} + 3, std::uint64_t{kMax}}) {
    values.push_back(static_cast<Bits>(magnitude));
    values.push_back(static_cast<Bits>(magnitude + kMax + 1));
  }
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<Bits>(rng.next()));
  return values;
}

template <class Type>
void check_grid(Dtype dtype, const Type& type, typename Type::Bits hidden) {
  using Bits = typename Type::Bits;
  const std::uint64_t seed = seed_from_environment(20'250'110);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  const std::vector<Bits> values = grid(hidden, rng);
  std::vector<Bits> a;
  std::vector<Bits> b;
  for (const Bits left : values) {
    a.insert(a.end(), values.size(), left);
    b.insert(b.end(), values.begin(), values.end());
  }
  const void* sources[] = {a.data(), b.data()};
  std::vector<Bits> target(a.size());
  for (const ReduceOpInfo& op : kReduceOps) {
    ASSERT_TRUE(reduce(op.op, dtype, sources, target.data(), target.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto value =
          expected_of<typename Type::Wide>(op.op, type.decode(a[i]), type.decode(b[i]));
      ASSERT_EQ(target[i], type.encode(value))
          << op.name << " of " << std::hex << a[i] << " and " << b[i];
    }
  }
}

TEST(ReduceGrid, SpecialAndRandomFp16WithEachOther) {
  check_grid(Dtype::kFp16, Narrow16{reference(Dtype::kFp16)}, std::uint16_t{1} << 10);
}

TEST(ReduceGrid, SpecialAndRandomBf16WithEachOther) {
  check_grid(Dtype::kBf16, Narrow16{reference(Dtype::kBf16)}, std::uint16_t{1} << 7);
}

TEST(ReduceGrid, SpecialAndRandomFp32WithEachOther) {
  check_grid(Dtype::kFp32, Native<float, std::uint32_t, double>{}, std::uint32_t{1} << 23);
}

TEST(ReduceGrid, SpecialAndRandomFp64WithEachOther) {
  check_grid(Dtype::kFp64, Native<double, std::uint64_t, Quad>{}, std::uint64_t{1} << 52);
}

}  // namespace
}  // namespace commrig::dtype
