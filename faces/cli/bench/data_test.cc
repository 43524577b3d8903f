// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/data.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli::bench {
namespace {

constexpr std::size_t kCount = 5000;  // more than a period
#ifdef COMMRIG_SANITIZED
constexpr std::array kRanks{2, 9};
#else
constexpr std::array kRanks{2, 7, 8, 9, 33};
#endif

Load load_of(std::string_view operation, dtype::Dtype dtype = dtype::Dtype::kFp32) {
  return {.operation = find_operation("", operation).value(),
          .ranks = 3,
          .count = kCount,
          .dtype = dtype,
          .root = 1};
}

std::vector<std::byte> input_of(const Load& load, int rank) {
  std::vector<std::byte> input(load.input_bytes(rank));
  Data(load).fill_input(rank, input);
  return input;
}

// What the operation must give, made here from the inputs by other means: bytes moved about.
std::vector<std::byte> moved(const Load& load, int rank) {
  const std::size_t block = load.count * load.element_bytes();
  const auto cut = [&](int from, std::size_t index) {
    const std::vector<std::byte> all = input_of(load, from);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(index * block);
    return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(block));
  };
  const auto mine = static_cast<std::size_t>(rank);
  const std::string_view name = load.operation->name;
  if (name == "broadcast") return cut(load.root, 0);
  if (name == "scatter") return cut(load.root, mine);
  if (name == "sendrecv") return cut((rank + load.ranks - 1) % load.ranks, 0);
  std::vector<std::byte> output;
  if (name == "gather" && rank != load.root) return output;
  for (int sender = 0; sender < load.ranks; ++sender) {
    const std::vector<std::byte> part = cut(sender, name == "all-to-all" ? mine : 0);
    output.insert(output.end(), part.begin(), part.end());
  }
  return output;
}

TEST(DataTest, ResultsOfMovesAreRightAndEachSpoiledElementIsCounted) {
  for (const char* const name :
       {"broadcast", "scatter", "sendrecv", "gather", "all-gather", "all-to-all"}) {
    SCOPED_TRACE(name);
    const Load load = load_of(name);
    const Data data(load);
    for (int rank = 0; rank < load.ranks; ++rank) {
      std::vector<std::byte> output = moved(load, rank);
      ASSERT_EQ(output.size(), load.output_bytes(rank));
      EXPECT_EQ(data.count_wrong(rank, output), 0U);
      if (output.empty()) continue;
      output.front() ^= std::byte{1};
      output[output.size() / 2] ^= std::byte{0x80};
      output.back() ^= std::byte{1};
      EXPECT_EQ(data.count_wrong(rank, output), 3U);
    }
  }
}

// The sum as a plain loop over whole numbers.
TEST(DataTest, SumsAreThoseOfTheInputs) {
  const Load load = load_of("reduce-scatter", dtype::Dtype::kInt32);
  for (int rank = 0; rank < load.ranks; ++rank) {
    std::vector<std::int32_t> sums(load.count, 0);
    for (int from = 0; from < load.ranks; ++from) {
      const std::vector<std::byte> input = input_of(load, from);
      const auto* const numbers = reinterpret_cast<const std::int32_t*>(input.data());
      for (std::size_t i = 0; i < load.count; ++i) {
        sums[i] += numbers[static_cast<std::size_t>(rank) * load.count + i];
      }
    }
    EXPECT_EQ(Data(load).count_wrong(rank, std::as_bytes(std::span(sums))), 0U);
    ++sums[7];
    sums[kCount - 1] -= 2;
    EXPECT_EQ(Data(load).count_wrong(rank, std::as_bytes(std::span(sums))), 2U);
  }
}

TEST(DataTest, ABlockOfAnotherRankOrPlaceIsWrongNearlyEverywhere) {
  const Load load = load_of("all-gather");
  std::vector<std::byte> output = moved(load, 0);
  const std::size_t block = load.count * load.element_bytes();
  std::swap_ranges(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(block),
                   output.begin() + static_cast<std::ptrdiff_t>(block));
  EXPECT_GT(Data(load).count_wrong(0, output), 2 * kCount * 9 / 10);
  const Load broadcast = load_of("broadcast");
  std::vector<std::byte> shifted = moved(broadcast, 0);
  std::rotate(shifted.begin(), shifted.begin() + 256, shifted.end());
  EXPECT_GT(Data(broadcast).count_wrong(0, shifted), kCount * 9 / 10);
}

// Rounded at each hop, and from the last rank to the first.
void expect_exact(dtype::Dtype dtype, dtype::ReduceOp op, int ranks) {
  SCOPED_TRACE(testing::Message() << dtype::info(dtype).name << " " << dtype::name(op) << " of "
                                  << ranks);
  Load load = load_of("all-reduce", dtype);
  load.op = op;
  load.ranks = ranks;
  std::vector<std::byte> result = input_of(load, ranks - 1);
  for (int rank = ranks - 2; rank >= 0; --rank) {
    const std::vector<std::byte> next = input_of(load, rank);
    const std::array<const void*, 2> pair{result.data(), next.data()};
    ASSERT_TRUE(dtype::reduce(op, dtype, pair, result.data(), load.count));
  }
  EXPECT_EQ(Data(load).count_wrong(0, result), 0U);
}

TEST(DataTest, EveryOrderAndRoundingGivesTheSameBits) {
  for (const dtype::DtypeInfo& type : dtype::all()) {
    if (!type.has_arithmetic) continue;
    for (const dtype::ReduceOpInfo& op : dtype::kReduceOps) {
      for (const int ranks : kRanks) expect_exact(type.dtype, op.op, ranks);
    }
  }
}

}  // namespace
}  // namespace commrig::cli::bench
