// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bench/peers/ranks/data.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "bench/peers/ranks/bf16.h"

namespace {

constexpr int kRanks = 3;
constexpr unsigned kSeed = 7;
constexpr int kRoot = 1;

using Bytes = std::vector<unsigned char>;

std::vector<Bytes> inputs_of(const operation& operation) {
  std::vector<Bytes> inputs(kRanks, Bytes(input_bytes(&operation)));
  for (int rank = 0; rank < kRanks; ++rank) {
    fill_input(&operation, rank, kSeed, inputs[static_cast<std::size_t>(rank)].data());
  }
  return inputs;
}

// What the operation gives to a rank, done by hand.
Bytes expected(const operation& operation, int rank) {
  const std::vector<Bytes> inputs = inputs_of(operation);
  const std::size_t block = operation.count * element_bytes(operation.type);
  const auto block_of = [&](int from, int number) {
    const auto begin = inputs[static_cast<std::size_t>(from)].begin() +
                       static_cast<std::ptrdiff_t>(block * static_cast<std::size_t>(number));
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(block));
  };
  const auto sum_of = [&](int number) {
    Bytes sum = block_of(0, number);
    for (int from = 1; from < kRanks; ++from) {
      const Bytes other = block_of(from, number);
      if (operation.type == kBf16) {
        add_bf16(sum.data(), sum.data(), other.data(), operation.count);
        continue;
      }
      for (std::size_t i = 0; i < block; i += sizeof(float)) {
        float a = 0;
        float b = 0;
        std::memcpy(&a, &sum[i], sizeof(a));
        std::memcpy(&b, &other[i], sizeof(b));
        a += b;
        std::memcpy(&sum[i], &a, sizeof(a));
      }
    }
    return sum;
  };
  if (operation.kind == kAllReduce) return sum_of(0);
  if (operation.kind == kReduceScatter) return sum_of(rank);
  if (operation.kind == kBroadcast) return block_of(kRoot, 0);
  if (operation.kind == kSendRecv) return block_of((rank + kRanks - 1) % kRanks, 0);
  Bytes all;
  for (int from = 0; from < kRanks; ++from) {
    const Bytes part = block_of(from, operation.kind == kAllToAll ? rank : 0);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::size_t wrong_in(const operation& operation, int rank, const Bytes& output) {
  return count_wrong(&operation, rank, kRanks, kRoot, kSeed, output.data());
}

struct Case {
  operation_kind kind;
  element_type type;
};

class Data : public testing::TestWithParam<Case> {
 protected:
  static operation make(std::size_t bytes) {
    return make_operation(GetParam().kind, GetParam().type, bytes, kRanks);
  }
};

TEST_P(Data, TheRightResultHasNoWrongElement) {
  for (const std::size_t bytes : {1UL, 8UL, 4096UL, 100'000UL}) {
    const operation operation = make(bytes);
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(wrong_in(operation, rank, expected(operation, rank)), 0U) << bytes;
    }
  }
}

TEST_P(Data, EachWrongElementIsCounted) {
  const operation operation = make(100'000);
  const std::size_t element = element_bytes(operation.type);
  Bytes output = expected(operation, 2);
  const std::size_t last = output.size() - element;
  for (const std::size_t place : {std::size_t{0}, 5000 * element, last}) output[place] ^= 0x40U;
  EXPECT_EQ(wrong_in(operation, 2, output), 3U);
}

TEST_P(Data, SpoiledOutputIsWrong) {
  const operation operation = make(4096);
  Bytes output(output_bytes(&operation));
  spoil_output(&operation, output.data());
  const std::size_t elements = output.size() / element_bytes(operation.type);
  EXPECT_GT(wrong_in(operation, 0, output), elements * 9 / 10);
}

TEST_P(Data, DataOfAnotherRankOrSeedAreWrong) {
  const operation operation = make(4096);
  const Bytes output = expected(operation, 0);
  EXPECT_GT(count_wrong(&operation, 0, kRanks, kRoot, kSeed + 1, output.data()), 0U);
  if (operation.kind == kAllReduce || operation.kind == kBroadcast ||
      operation.kind == kAllGather) {
    return;  // the same on all ranks
  }
  EXPECT_GT(wrong_in(operation, 1, output), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Data,
                         testing::Values(Case{kAllReduce, kFp32}, Case{kAllReduce, kBf16},
                                         Case{kReduceScatter, kFp32}, Case{kAllGather, kByte},
                                         Case{kAllToAll, kByte}, Case{kBroadcast, kByte},
                                         Case{kSendRecv, kByte}));

TEST(Operation, EachBlockHasAnElement) {
  const operation operation = make_operation(kReduceScatter, kFp32, 8, 8);
  EXPECT_EQ(operation.count, 1U);
  EXPECT_EQ(input_bytes(&operation), 32U);
  EXPECT_EQ(output_bytes(&operation), 4U);
}

TEST(Operation, NamesAreThoseOfTheDriver) {
  EXPECT_EQ(parse_operation_kind("all-to-all"), kAllToAll);
  EXPECT_EQ(parse_element_type("bf16"), kBf16);
  EXPECT_EQ(parse_operation_kind("all-to-none"), -1);
  EXPECT_EQ(parse_element_type("fp12"), -1);
}

TEST(Bf16, SumsAreRoundedToNearestEven) {
  // 256 + 1 lies half way between 256 and 258, and 258 + 1 between 258 and 260.
  const std::uint16_t a[] = {0x4380, 0x4381, 0x3f80};
  const std::uint16_t b[] = {0x3f80, 0x3f80, 0xbf80};
  std::uint16_t sum[3];
  add_bf16(sum, a, b, 3);
  EXPECT_EQ(sum[0], 0x4380);
  EXPECT_EQ(sum[1], 0x4382);
  EXPECT_EQ(sum[2], 0);
}

}  // namespace
