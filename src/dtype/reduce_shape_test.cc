// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/rng.h"
#include "dtype/reduce.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

using testing::ElementsAre;

// 0, 1, and around the blocks in which elements may be worked on.
constexpr std::size_t kLengths[] = {0,    1,    511,  512,  513,  1023, 1024,
                                    1025, 3000, 4095, 4096, 4097, 8193};

using Bytes = std::vector<std::uint64_t>;  // aligned to the largest element

Bytes random_bytes(Rng& rng, std::size_t bytes) {
  Bytes words(bytes / sizeof(std::uint64_t) + 1);
  for (std::uint64_t& word : words) word = rng.next();
  return words;
}

// One call for each element: what a call for all of them must equal, whatever blocks it makes.
Bytes one_by_one(ReduceOp op, const DtypeInfo& row, const std::vector<Bytes>& sources,
                 std::size_t count) {
  Bytes target(count * row.bytes / sizeof(std::uint64_t) + 1);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<const void*> at;
    for (const Bytes& source : sources) {
      at.push_back(reinterpret_cast<const char*>(source.data()) + i * row.bytes);
    }
    EXPECT_TRUE(
        reduce(op, row.dtype, at, reinterpret_cast<char*>(target.data()) + i * row.bytes, 1));
  }
  return target;
}

bool same(const Bytes& a, const Bytes& b, std::size_t bytes) {
  return std::memcmp(a.data(), b.data(), bytes) == 0;
}

TEST(ReduceShape, AnyLengthGivesWhatItsElementsGiveAloneAndWritesNothingBehind) {
  const std::uint64_t seed = seed_from_environment(20'250'107);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (const DtypeInfo& row : all()) {
    if (!row.has_arithmetic) continue;
    std::vector<Bytes> sources;
    std::vector<const void*> pointers;
    for (int s = 0; s < 3; ++s) sources.push_back(random_bytes(rng, 8193 * row.bytes));
    for (const Bytes& source : sources) pointers.push_back(source.data());
    for (const ReduceOpInfo& op : kReduceOps) {
      const Bytes expected = one_by_one(op.op, row, sources, 8193);
      for (const std::size_t count : kLengths) {
        SCOPED_TRACE(std::string(op.name) + " of " + std::to_string(count) + " " +
                     std::string(row.name));
        const std::size_t bytes = count * row.bytes;
        std::vector<std::uint64_t> target(bytes / 8 + 2, 0x5A5A5A5A5A5A5A5A);
        ASSERT_TRUE(reduce(op.op, row.dtype, pointers, target.data(), count));
        ASSERT_TRUE(same(target, expected, bytes));
        const auto* behind = reinterpret_cast<const unsigned char*>(target.data()) + bytes;
        for (int i = 0; i < 8; ++i) ASSERT_EQ(behind[i], 0x5A) << "byte " << i << " behind";
      }
    }
  }
}

TEST(ReduceShape, EverySourceMayBeTheTargetForEveryTypeAndOp) {
  const std::uint64_t seed = seed_from_environment(20'250'108);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  constexpr std::size_t kCount = 4097;
  for (const DtypeInfo& row : all()) {
    if (!row.has_arithmetic) continue;
    std::vector<Bytes> sources;
    for (int s = 0; s < 3; ++s) sources.push_back(random_bytes(rng, kCount * row.bytes));
    for (const ReduceOpInfo& op : kReduceOps) {
      const std::vector<const void*> apart = {sources[0].data(), sources[1].data(),
                                              sources[2].data()};
      Bytes expected(sources[0].size());
      ASSERT_TRUE(reduce(op.op, row.dtype, apart, expected.data(), kCount));
      for (std::size_t inside = 0; inside < 3; ++inside) {
        Bytes target = sources[inside];
        std::vector<const void*> pointers = apart;
        pointers[inside] = target.data();
        ASSERT_TRUE(reduce(op.op, row.dtype, pointers, target.data(), kCount));
        ASSERT_TRUE(same(target, expected, kCount * row.bytes))
            << op.name << " of " << row.name << " into source " << inside;
      }
    }
  }
}

// The plainest loop there is; volatile keeps every step an fp32.
TEST(ReduceShape, SumsOfNarrowTypesAreAPlainFp32LoopRoundedOnce) {
  const std::uint64_t seed = seed_from_environment(20'250'109);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  constexpr std::size_t kCount = 3000;
  for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16}) {
    const Reference& type = reference(dtype);
    int order_matters = 0;
    for (const std::size_t source_count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 33U}) {
      std::vector<std::vector<std::uint16_t>> sources(source_count);
      std::vector<const void*> pointers;
      for (auto& source : sources) {
        for (std::size_t i = 0; i < kCount; ++i) {
          const double fraction = (1 + rng.uniform()) * (rng.below(2) == 0 ? 1 : -1);
          const auto exponent = static_cast<int>(rng.between(-14, 12));
          source.push_back(static_cast<std::uint16_t>(type.encode(std::ldexp(fraction, exponent))));
        }
        pointers.push_back(source.data());
      }
      // The last source takes the first away again. What is left are the digits that the sums in
      // between kept, and these depend on the order.
      for (std::size_t i = 0; i < kCount && source_count > 2; ++i) {
        sources.front()[i] = static_cast<std::uint16_t>(type.encode(30'000 + 10 * rng.uniform()));
        sources.back()[i] = static_cast<std::uint16_t>(sources.front()[i] | type.sign());
      }
      std::vector<std::uint16_t> target(kCount);
      ASSERT_TRUE(reduce(ReduceOp::kSum, dtype, pointers, target.data(), kCount));
      for (std::size_t i = 0; i < kCount; ++i) {
        volatile float forward = static_cast<float>(type.decode(sources[0][i]));
        volatile float backward = static_cast<float>(type.decode(sources[source_count - 1][i]));
        for (std::size_t s = 1; s < source_count; ++s) {
          forward = forward + static_cast<float>(type.decode(sources[s][i]));
          backward = backward + static_cast<float>(type.decode(sources[source_count - 1 - s][i]));
        }
        ASSERT_EQ(target[i], type.encode(forward)) << source_count << " sources at " << i;
        order_matters += type.encode(backward) != type.encode(forward);
      }
    }
    EXPECT_GT(order_matters, 0) << "no sum would have caught another order";
  }
}

// 2^24 swallows a one that comes after it, so only the left fold in rank order leaves exactly the
// ones that came before, or after it was taken away again.
TEST(ReduceShape, Bf16SourcesAreAddedFromTheLeftInTheOrderGiven) {
  const Reference& type = reference(Dtype::kBf16);
  const auto sum = [&](const std::vector<double>& values) {
    std::vector<std::uint16_t> sources;
    for (const double value : values) {
      sources.push_back(static_cast<std::uint16_t>(type.encode(value)));
    }
    std::vector<const void*> pointers;
    for (const std::uint16_t& source : sources) pointers.push_back(&source);
    std::uint16_t target = 0;
    EXPECT_TRUE(reduce(ReduceOp::kSum, Dtype::kBf16, pointers, &target, 1));
    return type.decode(target);
  };
  EXPECT_EQ(sum({0x1p24, 1, 1, -0x1p24}), 0);
  EXPECT_EQ(sum({1, 1, 0x1p24, -0x1p24}), 2);
  EXPECT_EQ(sum({0x1p24, -0x1p24, 1, 1}), 2);
  EXPECT_EQ(sum({1, 0x1p24, 1, -0x1p24}), 0);
}

// Bits of what stands for the same thing in every IEEE-like type.
struct FloatBits {
  Dtype dtype;
  std::uint64_t sign;
  std::uint64_t one;
  std::uint64_t signaling_nan;  // with a payload, except in E4M3, which has one NaN
  std::uint64_t canonical_nan;
};

constexpr FloatBits kFloatBits[] = {
    {Dtype::kFp16, 0x8000, 0x3C00, 0x7C05, 0x7E00},
    {Dtype::kBf16, 0x8000, 0x3F80, 0x7F85, 0x7FC0},
    {Dtype::kFp32, 0x80000000, 0x3F800000, 0x7F800005, 0x7FC00000},
    {Dtype::kFp64, 0x8000000000000000, 0x3FF0000000000000, 0x7FF0000000000005, 0x7FF8000000000000},
    {Dtype::kFp8E4m3fn, 0x80, 0x38, 0x7F, 0x7F},
    {Dtype::kFp8E5m2, 0x80, 0x3C, 0x7D, 0x7E},
};

std::uint64_t reduce_bits(ReduceOp op, Dtype dtype, const std::vector<std::uint64_t>& values) {
  static_assert(std::endian::native == std::endian::little, "the lowest bytes come first");
  std::vector<const void*> pointers;
  for (const std::uint64_t& value : values) pointers.push_back(&value);
  std::uint64_t target = 0;
  EXPECT_TRUE(reduce(op, dtype, pointers, &target, 1));
  return target;
}

TEST(ReduceShape, MaxAndMinIgnoreANanAndOrderZerosInBothArgumentOrders) {
  for (const FloatBits& row : kFloatBits) {
    SCOPED_TRACE(info(row.dtype).name);
    const auto max = [&](std::uint64_t a, std::uint64_t b) {
      return reduce_bits(ReduceOp::kMax, row.dtype, {a, b});
    };
    const auto min = [&](std::uint64_t a, std::uint64_t b) {
      return reduce_bits(ReduceOp::kMin, row.dtype, {a, b});
    };
    EXPECT_EQ(max(0, row.sign), 0U);
    EXPECT_EQ(max(row.sign, 0), 0U);
    EXPECT_EQ(min(0, row.sign), row.sign);
    EXPECT_EQ(min(row.sign, 0), row.sign);
    for (const std::uint64_t nan : {row.signaling_nan, row.signaling_nan | row.sign}) {
      for (const std::uint64_t value : {std::uint64_t{0}, row.sign, row.one, row.one | row.sign}) {
        EXPECT_EQ(max(nan, value), value);
        EXPECT_EQ(max(value, nan), value);
        EXPECT_EQ(min(nan, value), value);
        EXPECT_EQ(min(value, nan), value);
      }
      EXPECT_EQ(max(nan, nan), row.canonical_nan);
      EXPECT_EQ(min(nan, nan), row.canonical_nan);
    }
  }
}

TEST(ReduceShape, ANanLeavesSumAndProductAsTheCanonicalOneInBothArgumentOrdersAndAlone) {
  for (const FloatBits& row : kFloatBits) {
    SCOPED_TRACE(info(row.dtype).name);
    for (const std::uint64_t nan : {row.signaling_nan, row.signaling_nan | row.sign}) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd}) {
        EXPECT_EQ(reduce_bits(op, row.dtype, {nan, row.one}), row.canonical_nan);
        EXPECT_EQ(reduce_bits(op, row.dtype, {row.one, nan}), row.canonical_nan);
      }
      for (const ReduceOpInfo& op : kReduceOps) {
        EXPECT_EQ(reduce_bits(op.op, row.dtype, {nan}), row.canonical_nan) << op.name;
      }
    }
  }
}

TEST(ReduceShape, ARefusedCallLeavesTheTargetUntouched) {
  alignas(8) std::array<float, 4> source = {1, 2, 3, 4};
  alignas(8) std::array<float, 4> target = {9, 9, 9, 9};
  const void* good = source.data();
  const void* odd = reinterpret_cast<const char*>(source.data()) + 1;
  for (const void* bad : {static_cast<const void*>(nullptr), odd}) {
    const void* sources[] = {good, bad};
    EXPECT_FALSE(reduce(ReduceOp::kSum, Dtype::kFp32, sources, target.data(), 2));
  }
  EXPECT_THAT(target, ElementsAre(9, 9, 9, 9));
}

}  // namespace
}  // namespace commrig::dtype
