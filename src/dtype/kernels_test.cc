// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/kernels.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/rng.h"
#include "dtype/fast_sets_for_test.h"
#include "dtype/format.h"
#include "dtype/reference.h"

namespace commrig::dtype {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMost = 130;  // of lengths, of misalignments
constexpr std::size_t kSourcesMost = 9;
constexpr std::byte kUntouched{0x5A};

// Every start from 0 to 130; fewer where a sanitizer or an emulator makes each step slow.
#if defined(COMMRIG_SANITIZED) || defined(COMMRIG_EMULATED)
constexpr std::size_t kStartStep = 13;
#else
constexpr std::size_t kStartStep = 1;
#endif

// Every length from 0 to 130, and some that fill the widest loops several times.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all;
  for (std::size_t length = 0; length <= kMost; ++length) all.push_back(length);
  for (const std::size_t length : {511U, 512U, 777U}) all.push_back(length);
  return all;
}

constexpr std::size_t kElements = kMost + 777;

struct Shape {
  int bits;
  int mantissa_bits;
};

Shape shape_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp16:
      return {16, Fp16::kMantissaBits};
    case Dtype::kBf16:
      return {16, Bf16::kMantissaBits};
    case Dtype::kFp32:
      return {32, Fp32::kMantissaBits};
    case Dtype::kFp64:
      return {64, Fp64::kMantissaBits};
    default:
      return {static_cast<int>(8 * size_of(dtype)), 2};
  }
}

// A third each: any bits; zeros, subnormals, ones, extremes, infinities, NaNs with payloads; and
// numbers of similar size, whose sums and products round and are often ties.
std::uint64_t random_element(Rng& rng, Shape shape) {
  const auto sign = std::uint64_t{1} << (shape.bits - 1);
  const auto hidden = std::uint64_t{1} << shape.mantissa_bits;
  const std::uint64_t infinity = sign - hidden;
  const std::uint64_t one = infinity / 2 / hidden * hidden;
  const std::uint64_t special[] = {0,         1,        hidden - 1, hidden,       one,
                                   one + 1,   infinity, sign - 1,   infinity - 1, infinity + 1,
                                   hidden / 2};
  const std::uint64_t any = rng.next();
  switch (rng.below(3)) {
    case 0:
      return any;
    case 1:
      return special[any % std::size(special)] | (any >> 63U << (shape.bits - 1));
    default:
      return one + any % (4 * hidden) - 2 * hidden;
  }
}

using Bytes = std::vector<std::byte>;

Bytes random_elements(Rng& rng, Dtype dtype, std::size_t count) {
  const std::size_t bytes = size_of(dtype);
  Bytes buffer(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t element = random_element(rng, shape_of(dtype));
    std::memcpy(buffer.data() + i * bytes, &element, bytes);
  }
  return buffer;
}

// The same elements in each source, so that what one kernel gives for all of them is what another
// must give for any part.
class ReduceCase {
 public:
  ReduceCase(Rng& rng, Dtype dtype) : bytes_(size_of(dtype)), dtype_(dtype) {
    for (std::size_t s = 0; s < kSourcesMost; ++s) {
      sources_.push_back(random_elements(rng, dtype, kElements));
    }
    target_.resize((kElements + kMost) * bytes_ + 2 * kGuard);
  }

  void expect(ReduceOp op, std::size_t source_count) {
    op_ = op;
    source_count_ = source_count;
    expected_.resize(kElements * bytes_);
    const ReduceKernel scalar = kScalarReduce[index(dtype_)][index(op)];
    scalar(at(0), expected_.data(), kElements, Stores::kOrdinary);
  }

  // Whether the set gives the same for `count` elements from the place `start` on, written to the
  // place `target_start`, and writes nothing beside them.
  bool same(const KernelSet& set, std::size_t start, std::size_t target_start, std::size_t count,
            Stores stores) {
    const std::size_t size = count * bytes_;
    std::byte* target = target_.data() + kGuard + target_start * bytes_;
    std::fill(target - kGuard, target + size + kGuard, kUntouched);
    find_kernel(set, dtype_, op_)(at(start), target, count, stores);
    const auto untouched = [](const std::byte* byte) {
      return std::all_of(byte, byte + kGuard, [](std::byte b) { return b == kUntouched; });
    };
    return std::memcmp(target, expected_.data() + start * bytes_, size) == 0 &&
           untouched(target - kGuard) && untouched(target + size);
  }

 private:
  static constexpr std::size_t kGuard = 64;

  std::vector<const void*> at(std::size_t start) const {
    std::vector<const void*> places;
    for (std::size_t s = 0; s < source_count_; ++s) {
      places.push_back(sources_[s].data() + start * bytes_);
    }
    return places;
  }

  std::size_t bytes_;
  Dtype dtype_;
  ReduceOp op_ = ReduceOp::kSum;
  std::size_t source_count_ = 0;
  std::vector<Bytes> sources_;
  Bytes expected_;
  Bytes target_;
};

void check_reduce(const KernelSet& set, ReduceCase& reduction, Stores stores) {
  for (std::size_t start = 0; start <= kMost; start += kStartStep) {
    for (const std::size_t count : lengths()) {
      // Sources and target are seldom aligned alike.
      ASSERT_TRUE(reduction.same(set, start, (start * 7 + count) % (kMost + 1), count, stores))
          << count << " elements from " << start << " on";
    }
  }
}

void check_all_types(std::initializer_list<std::size_t> source_counts, Stores stores) {
  const std::uint64_t seed = seed_from_environment(20'250'201);
  for (const KernelSet* set : fast_sets()) {
    Rng rng(seed);
    for (const DtypeInfo& row : all()) {
      if ((*set->reduce)[index(row.dtype)][0] == nullptr) continue;
      ReduceCase reduction(rng, row.dtype);
      for (const ReduceOpInfo& op : kReduceOps) {
        for (const std::size_t source_count : source_counts) {
          SCOPED_TRACE(testing::Message() << set->name << ": " << op.name << " of " << source_count
                                          << " " << row.name << ", COMMRIG_SEED=" << seed);
          reduction.expect(op.op, source_count);
          ASSERT_NO_FATAL_FAILURE(check_reduce(*set, reduction, stores));
        }
      }
    }
  }
}

TEST(Kernels, ReduceTheBitsOfTheScalarOnesAtAnyLengthAndStart) {
  check_all_types({1, 2, 3, 4, 5, 6, 7, 8, 9}, Stores::kOrdinary);
}

TEST(Kernels, StreamingStoresGiveTheBitsOfOrdinaryOnes) {
  check_all_types({1, 2, 3}, Stores::kStreaming);
}

// Through every set, at a length and a start that vary: all values are met at many places.
void expect_same_conversion(Dtype from, const Bytes& source, Dtype to) {
  const std::size_t count = source.size() / size_of(from);
  Bytes expected(count * size_of(to));
  kScalarConvert[index(from)][index(to)](source.data(), expected.data(), count);
  for (const KernelSet* set : fast_sets()) {
    SCOPED_TRACE(testing::Message()
                 << set->name << ": " << info(from).name << " to " << info(to).name);
    Bytes target(expected.size());
    for (std::size_t at = 0, length = 1; at < count; at += length, length = length % 300 + 1) {
      length = std::min(length, count - at);
      find_kernel(*set, from, to)(source.data() + at * size_of(from),
                                  target.data() + at * size_of(to), length);
    }
    ASSERT_TRUE(target == expected);
    find_kernel(*set, from, to)(source.data(), target.data(), count);
    ASSERT_TRUE(target == expected);
  }
}

TEST(Kernels, WidenEvery16BitFloatAsTheScalarOnesDo) {
  Bytes source;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    source.push_back(static_cast<std::byte>(bits & 0xFFU));
    source.push_back(static_cast<std::byte>(bits >> 8U));
  }
  expect_same_conversion(Dtype::kFp16, source, Dtype::kFp32);
  expect_same_conversion(Dtype::kBf16, source, Dtype::kFp32);
}

TEST(Kernels, NarrowAtEveryRoundingBoundaryAsTheScalarOnesDo) {
  const std::uint64_t seed = seed_from_environment(20'250'202);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  for (const Dtype to : {Dtype::kFp16, Dtype::kBf16}) {
    const Reference& type = reference(to);
    Bytes source;
    const auto add = [&](std::uint32_t bits) {
      const auto bytes = std::bit_cast<std::array<std::byte, 4>>(bits);
      source.insert(source.end(), bytes.begin(), bytes.end());
    };
    for (std::uint32_t bits = 0; bits <= type.max_finite(); ++bits) {
      for (const double exact : {type.decode(bits), type.midpoint(bits)}) {
        const auto center = std::bit_cast<std::uint32_t>(static_cast<float>(exact));
        for (const std::uint32_t value : {center - 1, center, center + 1}) {
          add(value);
          add(value ^ 0x80000000U);
        }
      }
      add(static_cast<std::uint32_t>(random_element(rng, shape_of(Dtype::kFp32))));
      add(0x7F800000U | static_cast<std::uint32_t>(rng.next()));
    }
    expect_same_conversion(Dtype::kFp32, source, to);
  }
}

TEST(Kernels, AreChosenByName) {
  for (const KernelSet& set : kernel_sets()) {
    const auto chosen = choose_kernels(set.name);
    ASSERT_EQ(chosen.has_value(), set.runs_here()) << set.name;
    if (chosen) {
      EXPECT_EQ(chosen.value(), &set);
    } else {
      EXPECT_EQ(chosen.error().code, Code::kBadArgument);
      EXPECT_THAT(chosen.error().message, HasSubstr("lacks the instructions; it can use"));
    }
  }
  EXPECT_TRUE(choose_kernels("").value()->runs_here());
}

TEST(Kernels, AnUnknownNameIsRefusedWithThoseThatRunHere) {
  for (const char* name : {"avx9", "AVX2", "scalar "}) {
    const auto chosen = choose_kernels(name);
    ASSERT_FALSE(chosen) << name;
    EXPECT_EQ(chosen.error().code, Code::kBadArgument);
    EXPECT_THAT(chosen.error().message, HasSubstr(std::string("COMMRIG_KERNELS=") + name));
    EXPECT_THAT(chosen.error().message, HasSubstr(" scalar"));
  }
}

// In a process of its own, because the choice is made once.
TEST(KernelsDeathTest, TheEnvironmentDecidesForReduce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exit_code_with = [](const char* name) {
    setenv("COMMRIG_KERNELS", name, 1);
    float element = 1;
    const void* sources[] = {&element};
    const Status status = reduce(ReduceOp::kSum, Dtype::kFp32, sources, &element, 1);
    if (!status) std::exit(status.error().code == Code::kBadArgument ? 2 : 3);
    std::exit(chosen_kernels().value()->name == name ? 0 : 4);
  };
  EXPECT_EXIT(exit_code_with("scalar"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_code_with("none"), testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace commrig::dtype
