// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/reduce.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>

#include "base/rng.h"
#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kSourceCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 33};

template <class T>
class IntegerReduceTest : public testing::Test {
 protected:
  static Dtype dtype() {
    const std::string prefix = std::is_signed_v<T> ? "int" : "uint";
    return parse(prefix + std::to_string(8 * sizeof(T))).value();
  }

  // In 128 bits, cut to the type after each step: what is cut off never comes back.
  static T fold(ReduceOp op, T a, T b) {
    using Wide = __int128;
    switch (op) {
      case ReduceOp::kSum:
        return static_cast<T>(static_cast<Wide>(a) + b);
      case ReduceOp::kProd:
        return static_cast<T>(static_cast<unsigned __int128>(a) *
                              static_cast<unsigned __int128>(b));
      case ReduceOp::kMax:
        return a > b ? a : b;
      default:
        return a < b ? a : b;
    }
  }
};

using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerReduceTest, IntegerTypes);

TYPED_TEST(IntegerReduceTest, WrapsExactlyForAnyNumberOfSourcesAndAnyLength) {
  using T = TypeParam;
  const std::uint64_t seed = seed_from_environment(20'250'105);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (const std::size_t source_count : kSourceCounts) {
    for (const std::size_t count : {1U, 7U, 512U, 1025U, 5000U}) {
      std::vector<std::vector<T>> sources(source_count, std::vector<T>(count));
      std::vector<const void*> pointers;
      for (std::vector<T>& source : sources) {
        for (T& element : source) element = static_cast<T>(rng.next());
        pointers.push_back(source.data());
      }
      for (const ReduceOpInfo& op : kReduceOps) {
        std::vector<T> target(count);
        ASSERT_TRUE(reduce(op.op, this->dtype(), pointers, target.data(), count));
        for (std::size_t i = 0; i < count; ++i) {
          T expected = sources[0][i];
          for (std::size_t s = 1; s < source_count; ++s) {
            expected = this->fold(op.op, expected, sources[s][i]);
          }
          ASSERT_EQ(target[i], expected) << op.name << " of " << source_count << " at " << i;
        }
      }
    }
  }
}

TYPED_TEST(IntegerReduceTest, ExtremesAgainstExtremes) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T values[] = {Limits::min(),
                      static_cast<T>(Limits::min() + 1),
                      static_cast<T>(-1),
                      0,
                      1,
                      static_cast<T>(Limits::max() - 1),
                      Limits::max()};
  for (const T a : values) {
    for (const T b : values) {
      for (const ReduceOpInfo& op : kReduceOps) {
        T target{};
        const void* sources[] = {&a, &b};
        ASSERT_TRUE(reduce(op.op, this->dtype(), sources, &target, 1));
        EXPECT_EQ(target, this->fold(op.op, a, b)) << op.name << " " << +a << " " << +b;
      }
    }
  }
}

TEST(Reduce, TheTargetMayBeAnySourceAndASourceMayComeTwice) {
  for (std::size_t target = 0; target < 3; ++target) {
    std::vector<std::vector<std::int32_t>> sources(3, std::vector<std::int32_t>(5000));
    for (std::size_t i = 0; i < 5000; ++i) {
      for (std::size_t s = 0; s < 3; ++s) sources[s][i] = static_cast<std::int32_t>(i + 10'000 * s);
    }
    const void* pointers[] = {sources[0].data(), sources[1].data(), sources[2].data(),
                              sources[target].data()};
    ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kInt32, pointers, sources[target].data(), 5000));
    for (std::size_t i = 0; i < 5000; ++i) {
      ASSERT_EQ(sources[target][i], static_cast<std::int32_t>(4 * i + 30'000 + 10'000 * target));
    }
  }
}

TEST(Reduce, NothingOutsideTheTargetIsWritten) {
  const std::vector<std::uint8_t> source(4097, 1);
  std::vector<std::uint8_t> target(4099, 9);
  const void* sources[] = {source.data(), source.data()};
  ASSERT_TRUE(reduce(ReduceOp::kSum, Dtype::kUint8, sources, target.data() + 1, 4097));
  EXPECT_EQ(target.front(), 9);
  EXPECT_EQ(target[1], 2);
  EXPECT_EQ(target[4097], 2);
  EXPECT_EQ(target.back(), 9);
}

void expect_error(const Status& status, Code code, std::string_view message) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, code);
  EXPECT_THAT(status.error().message, HasSubstr(message));
}

TEST(Reduce, TypesKnownBySizeOnlyAreRefusedByName) {
  const std::uint64_t source[2] = {};
  std::uint64_t target[2] = {7, 7};
  const void* sources[] = {source};
  for (const Dtype dtype : {Dtype::kHif8, Dtype::kFp8E8m0, Dtype::kInt128}) {
    for (const ReduceOpInfo& op : kReduceOps) {
      expect_error(reduce(op.op, dtype, sources, target, 1), Code::kNoArithmetic,
                   std::string(op.name) + " of " + std::string(info(dtype).name) + " is refused");
      expect_error(reduce(op.op, dtype, sources, target, 0), Code::kNoArithmetic, "refused");
    }
  }
  EXPECT_THAT(target, ElementsAre(7, 7));
}

TEST(Reduce, BadBuffersAreNamed) {
  alignas(8) char buffer[64] = {};
  char* target = buffer + 32;
  const auto sum = [&](std::vector<const void*> sources, void* result, std::size_t count) {
    return reduce(ReduceOp::kSum, Dtype::kFp32, sources, result, count);
  };
  expect_error(sum({}, target, 1), Code::kBadArgument, "sum of fp32 without a source");
  expect_error(sum({buffer, nullptr}, target, 1), Code::kBadArgument, "source 1 is null");
  expect_error(sum({buffer}, nullptr, 1), Code::kBadArgument, "the target is null");
  expect_error(sum({buffer, buffer + 4, buffer + 10}, target, 1), Code::kMisaligned, "source 2 at");
  expect_error(sum({buffer}, target + 2, 1), Code::kMisaligned, "4 bytes of fp32");
  expect_error(sum({target, target + 4}, target, 2), Code::kBadArgument, "overlaps source 1");
  expect_error(sum({target - 4}, target, 2), Code::kBadArgument, "overlaps source 0");
  EXPECT_TRUE(sum({target - 8, target + 8, target}, target, 2));
  EXPECT_TRUE(sum({nullptr}, nullptr, 0));
}

TEST(Kernels, EveryTypeWithArithmeticHasAScalarKernelForEveryOp) {
  for (const DtypeInfo& row : all()) {
    for (const ReduceOpInfo& op : kReduceOps) {
      EXPECT_EQ(kScalarReduce[index(row.dtype)][index(op.op)] != nullptr, row.has_arithmetic);
    }
  }
  EXPECT_EQ(kernel_sets().back().name, "scalar");
  EXPECT_TRUE(chosen_kernels().value()->runs_here());
}

}  // namespace
}  // namespace commrig::dtype
