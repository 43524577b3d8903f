// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/side_message.h"

#include <iostream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace commrig::mc2 {
namespace {

using Bytes = std::vector<std::byte>;

const Layout& upstream() {
  return **find_layout("upstream-64");
}
const Layout& readme() {
  return **find_layout("readme-112");
}

// As the public kernel-side client was seen to write it for two ranks.
SideMessage golden() {
  SideMessage message;
  message.send_counts = {3, 5};
  message.send_offsets = {0, 3};
  message.recv_counts = {4, 7};
  message.recv_offsets = {0, 4};
  return message;
}

Bytes written(const SideMessage& message, std::uint32_t ranks) {
  Bytes bytes(kSideMessageBytes, std::byte{0xEE});
  EXPECT_TRUE(encode_side(upstream(), message, ranks, bytes));
  return bytes;
}

std::uint64_t word(const Bytes& bytes, std::uint32_t offset) {
  return load(bytes, Field{.name = "word", .offset = offset, .width = 8});
}

TEST(SideMessage, GoldenHasItsBytesAndCheckWord) {
  const Bytes bytes = written(golden(), 2);
  EXPECT_EQ(word(bytes, 0x0000), 3U);
  EXPECT_EQ(word(bytes, 0x0008), 5U);
  EXPECT_EQ(word(bytes, 0x0808), 3U);
  EXPECT_EQ(word(bytes, 0x1000), 4U);
  EXPECT_EQ(word(bytes, 0x1008), 7U);
  EXPECT_EQ(word(bytes, 0x1808), 4U);
  EXPECT_EQ(word(bytes, 0x2000), 0U);
  EXPECT_EQ(word(bytes, 0x2030), 0x5cdf123aU);
  EXPECT_EQ(word(bytes, 0x2038), 0x5cdf1238U);
  EXPECT_EQ(side_check_word(upstream(), bytes, 2), 0x5cdf1238U);
  SideMessage back;
  ASSERT_FALSE(decode_side(upstream(), bytes, 2, Place{}, back));
  EXPECT_EQ(back, golden());
}

TEST(SideMessage, FieldsFillItWithoutGaps) {
  std::uint32_t at = 0;
  for (const Field& field : side_message_fields()) {
    EXPECT_EQ(field.offset, at) << field.name;
    at = field.end();
  }
  EXPECT_EQ(at, 8256U);
  EXPECT_EQ(upstream().side_message_bytes, kSideMessageBytes);
  EXPECT_EQ(side_valid_field().offset, 0x2030U);
  EXPECT_EQ(side_check_field().offset, 0x2038U);
}

TEST(SideMessage, EveryFlippedBitThatCountsIsSeen) {
  const Bytes right = written(golden(), 2);
  const auto place = side_message_place(upstream(), 1, 2);
  const auto back = std::make_unique<SideMessage>();
  for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
    Bytes bytes = right;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const std::size_t at = bit / 8;
    const bool counts = at >= 0x2030 || (at < 0x2000 && at % 0x800 < 16);
    const auto wrong = decode_side(upstream(), bytes, 2, place, *back);
    ASSERT_EQ(wrong.has_value(), counts) << "byte " << at;
    if (!counts) {
      EXPECT_EQ(*back, golden());
      continue;
    }
    const bool in_valid = at >= 0x2030 && at < 0x2038;
    EXPECT_EQ(wrong->code, Code::kSideMessage);
    EXPECT_EQ(wrong->field, in_valid ? "valid" : "xorCheck");
    EXPECT_EQ(wrong->rank, 1);
    EXPECT_EQ(wrong->slot, 2);
    EXPECT_EQ(wrong->offset, 0x106000 + 2 * 8256 + (in_valid ? 0x2030 : 0x2038));
  }
}

TEST(SideMessage, ATakenOneIsNotValid) {
  Bytes bytes = written(golden(), 2);
  store(bytes, side_valid_field(), upstream().valid_taken);
  SideMessage back;
  EXPECT_EQ(decode_side(upstream(), bytes, 2, Place{}, back)->field, "valid");
}

TEST(SideMessage, RanksSizesAndLayoutsThatDoNotFitAreRefused) {
  Bytes bytes = written(golden(), 2);
  SideMessage back;
  for (const std::uint32_t ranks : {0U, 257U}) {
    EXPECT_EQ(encode_side(upstream(), golden(), ranks, bytes).error().code, Code::kRankCount);
    EXPECT_EQ(decode_side(upstream(), bytes, ranks, Place{}, back)->code, Code::kRankCount);
  }
  EXPECT_EQ(encode_side(readme(), golden(), 2, bytes).error().code, Code::kUnsupportedCommand);
  EXPECT_EQ(decode_side(readme(), bytes, 2, Place{}, back)->code, Code::kUnsupportedCommand);
  bytes.pop_back();
  EXPECT_EQ(encode_side(upstream(), golden(), 2, bytes).error().code, Code::kWorkspaceTooSmall);
  EXPECT_EQ(decode_side(upstream(), bytes, 2, Place{}, back)->code, Code::kWorkspaceTooSmall);
}

TEST(SideMessage, RandomOnesComeBackForEveryNumberOfRanks) {
  const std::uint64_t seed = seed_from_environment(20260108);
  std::cout << "COMMRIG_SEED=" << seed << "\n";
  Rng rng(seed);
  const auto message = std::make_unique<SideMessage>();
  const auto back = std::make_unique<SideMessage>();
  for (std::uint32_t ranks = 1; ranks <= kSideMessageRanks; ++ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      message->send_counts[rank] = rng.next();
      message->send_offsets[rank] = rng.next();
      message->recv_counts[rank] = rng.next();
      message->recv_offsets[rank] = rng.next();
    }
    const Bytes bytes = written(*message, ranks);
    ASSERT_FALSE(decode_side(upstream(), bytes, ranks, Place{}, *back)) << "seed " << seed;
    ASSERT_EQ(*back, *message) << "seed " << seed << ", ranks " << ranks;
  }
}

}  // namespace
}  // namespace commrig::mc2
