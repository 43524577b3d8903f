// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Messages as the public kernel-side client writes them, byte for byte.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "mc2/layout.h"
#include "mc2/message.h"

namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;

const Layout& upstream() {
  return **find_layout("upstream-64");
}

struct Golden {
  std::string_view name;
  std::string_view hex;  // in memory order
  std::uint32_t check;
  Message message;
};

Message data_message(Command command, std::uint64_t count, Dtype dtype) {
  Message m;
  m.command = command;
  m.send = 0x1000;
  m.recv = 0x2000;
  m.count = count;
  m.dtype = dtype;
  return m;
}

Message numbered(Message m, std::uint8_t number) {
  m.handle = static_cast<std::int8_t>(number);
  m.sequence = number;
  return m;
}

std::vector<Golden> make_goldens() {
  Message all_reduce = data_message(Command::kAllReduce, 100, Dtype::kFp16);
  all_reduce.op = ReduceOp::kSum;
  Message all_gather = numbered(data_message(Command::kAllGather, 128, Dtype::kFp16), 1);
  all_gather.stride = 300;
  all_gather.repeat = 2;
  Message reduce_scatter = numbered(data_message(Command::kReduceScatter, 128, Dtype::kBf16), 2);
  reduce_scatter.op = ReduceOp::kMax;
  const Message all_to_all_v = numbered(data_message(Command::kAllToAllV, 0, Dtype::kInt8), 3);
  Message all_to_all = numbered(data_message(Command::kAllToAll, 64, Dtype::kFp16), 1);
  all_to_all.repeat = 3;
  Message tiled = data_message(Command::kAllGather, 256, Dtype::kFp32);
  tiled.version = 2;
  tiled.tiling = 64;
  return {
      {"all-reduce",
       "02000000 00000000 00100000 00000000 00200000 00000000 64000000 00000000 "
       "00000000 00000000 03000000 00000000 3a12df5c 01000000 00000000 5e22df5c",
       0x5cdf225e, all_reduce},
      {"all-gather",
       "06000000 04000000 00100000 00000000 00200000 00000000 80000000 00000000 "
       "2c010000 00000000 03000000 00000000 3a12df5c 02000000 00010100 9522de5c",
       0x5cde2295, all_gather},
      {"reduce-scatter",
       "07000000 02000000 00100000 00000000 00200000 00000000 80000000 00000000 "
       "00000000 00000000 0b000000 00000000 3a12df5c 01000000 00020200 b520dd5c",
       0x5cdd20b5, reduce_scatter},
      {"all-to-all-v",
       "08000000 04000000 00100000 00000000 00200000 00000000 00000000 00000000 "
       "00000000 00000000 00000000 00000000 3a12df5c 01000000 00030300 3721dc5c",
       0x5cdc2137, all_to_all_v},
      {"all-to-all",
       "0a000000 04000000 00100000 00000000 00200000 00000000 40000000 00000000 "
       "00000000 00000000 03000000 00000000 3a12df5c 03000000 00010100 7423de5c",
       0x5cde2374, all_to_all},
      {"group sync",
       "65000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
       "00000000 00000000 00000000 00000000 3a12df5c 00000001 05000000 5a12df5d",
       0x5ddf125a, group_sync_message(1, 5)},
      {"finalize",
       "64000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
       "00000000 00000000 00000000 00000000 3a12df5c 00000000 00000000 5e12df5c",
       0x5cdf125e, finalize_message()},
      {"all-gather with tiling",
       "06000000 04000000 00100000 00000000 00200000 00000000 00010000 00000000 "
       "00000000 00000000 40000000 00000000 3a12df5c 04000000 01000002 7d23df5e",
       0x5edf237d, tiled},
  };
}

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(std::byte(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(MessageGolden, DecodesToItsFields) {
  for (const Golden& golden : make_goldens()) {
    const auto bytes = bytes_of(golden.hex);
    ASSERT_EQ(bytes.size(), 64U);
    Message message;
    const auto wrong = decode(upstream(), bytes, Place{}, message);
    ASSERT_FALSE(wrong) << golden.name << ": " << sentence(*wrong);
    EXPECT_EQ(message, golden.message) << golden.name;
  }
}

TEST(MessageGolden, EncodesToTheSameBytes) {
  for (const Golden& golden : make_goldens()) {
    std::vector<std::byte> bytes(64, std::byte{0xEE});
    ASSERT_TRUE(encode(upstream(), golden.message, bytes)) << golden.name;
    EXPECT_EQ(bytes, bytes_of(golden.hex)) << golden.name;
  }
}

TEST(MessageGolden, HasItsCheckWordEvenAfterItWasTaken) {
  for (const Golden& golden : make_goldens()) {
    auto bytes = bytes_of(golden.hex);
    EXPECT_EQ(check_word(upstream(), bytes), golden.check) << golden.name;
    store(bytes, Field{.name = "valid", .offset = 0x30, .width = 4}, upstream().valid_taken);
    EXPECT_EQ(check_word(upstream(), bytes), golden.check) << golden.name;
    Message message;
    EXPECT_FALSE(decode(upstream(), bytes, Place{}, message)) << golden.name;
  }
}

// The valid word has its own test: whoever polls it compares it with the mask.
TEST(MessageGolden, EveryFlippedBitIsSeen) {
  for (const Golden& golden : make_goldens()) {
    for (std::size_t bit = 0; bit < 512; ++bit) {
      auto bytes = bytes_of(golden.hex);
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      const Field valid{.name = "valid", .offset = upstream().valid_offset, .width = 4};
      if (bit / 32 == 12) {
        EXPECT_NE(load(bytes, valid), upstream().valid);
        continue;
      }
      Message message;
      const auto wrong = decode(upstream(), bytes, message_place(upstream(), 5, 2), message);
      ASSERT_TRUE(wrong) << golden.name << " bit " << bit;
      EXPECT_EQ(wrong->code, Code::kCheckWord) << golden.name << " bit " << bit;
      EXPECT_EQ(wrong->field, "xorCheck");
      EXPECT_EQ(wrong->rank, 5);
      EXPECT_EQ(wrong->slot, 2);
      EXPECT_EQ(wrong->offset, 2 * 64 + 0x3C);
    }
  }
}

TEST(MessageGolden, CommitsAreCounters) {
  const std::array<std::pair<std::string_view, std::uint64_t>, 3> commits{
      std::pair{"b168de3a 00000000 01000000 00000000", 1ULL},
      std::pair{"b168de3a 00000000 02000000 00000000", 2ULL},
      std::pair{"b168de3a 00000000 03000000 00000000", 3ULL}};
  const Layout& layout = upstream();
  for (const auto& [hex, count] : commits) {
    const auto golden = bytes_of(hex);
    EXPECT_EQ(load(golden, layout.counter_valid), layout.commit_valid);
    EXPECT_EQ(load(golden, layout.counter_count), count);
    std::vector<std::byte> written(16);
    store(written, layout.counter_valid, layout.commit_valid);
    store(written, layout.counter_count, count);
    EXPECT_EQ(written, golden);
  }
}

}  // namespace
}  // namespace commrig::mc2
