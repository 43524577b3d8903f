// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/wire.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace commrig::bootstrap {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMagic = 99;

// Gives the reader the bytes in pieces; what became of them.
Result<MessageReader::State> feed(MessageReader& reader, std::span<const std::byte> bytes,
                                  Rng& rng) {
  while (!bytes.empty()) {
    const auto space = reader.space();
    const std::size_t piece = 1 + rng.below(std::min(space.size(), bytes.size()));
    std::copy_n(bytes.begin(), piece, space.begin());
    bytes = bytes.subspan(piece);
    const auto state = reader.advance(piece);
    if (!state || *state != MessageReader::State::kMore) return state;
  }
  return MessageReader::State::kMore;
}

TEST(Wire, MessageInPiecesOfAnySizeIsTheSame) {
  const std::uint64_t seed = seed_from_environment(20'250'304);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  CheckIn record;
  record.rank = 3;
  record.ranks = 7;
  record.answer_to = *Address::parse("[2001:db8::3]:33");
  record.info = make_info(*Address::parse("192.0.2.3:44"));
  const auto bytes = with_handshake(kMagic, framed(encode(record)));
  for (int round = 0; round < 200; ++round) {
    MessageReader reader(kMagic, kCheckInBytes);
    const auto state = feed(reader, bytes, rng);
    ASSERT_TRUE(state && *state == MessageReader::State::kDone);
    EXPECT_EQ(*decode_check_in(reader.payload().first<kCheckInBytes>()), record);
  }
}

TEST(Wire, OtherHandshakeIsAStranger) {
  Rng rng(1);
  for (std::size_t at = 0; at < kHandshakeBytes; ++at) {
    Handshake handshake = make_handshake(kMagic);
    handshake.at(at) ^= std::byte{4};
    MessageReader reader(kMagic, std::nullopt);
    const auto state = feed(reader, handshake, rng);
    EXPECT_TRUE(state && *state == MessageReader::State::kStranger) << at;
  }
}

TEST(Wire, NoticeCarriesCodeAndText) {
  Rng rng(1);
  const Error error = Error::make(Code::kRankAbsent, "rank 3\nis missing");
  MessageReader reader(kMagic, kInfoBytes);
  const auto state = feed(reader, with_handshake(kMagic, make_notice(error)), rng);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, error.code);
  EXPECT_EQ(state.error().message, error.message);
}

TEST(Wire, LongNoticeIsCutAndSaysSo) {
  Rng rng(1);
  const Error error = Error::make(Code::kRankAbsent, std::string(50'000, 'x'));
  MessageReader reader(kMagic, kInfoBytes);
  const auto state = feed(reader, with_handshake(kMagic, make_notice(error)), rng);
  ASSERT_FALSE(state);
  EXPECT_TRUE(state.error().message.ends_with("xx (cut)"));
  EXPECT_LT(state.error().message.size(), kNoticeBytesMax);
}

TEST(Wire, OtherLengthsAreRefusedWithBoth) {
  Rng rng(1);
  for (const std::uint32_t length : {0U, 127U, 129U, 172U, 0x7fffffffU, 0x80000000U, 0xffffffffU,
                                     kNoticeFlag, kNoticeFlag | 20'000U}) {
    auto bytes = with_handshake(kMagic, framed({}));
    std::memcpy(bytes.data() + kHandshakeBytes, &length, sizeof(length));
    MessageReader reader(kMagic, kInfoBytes);
    const auto state = feed(reader, bytes, rng);
    ASSERT_FALSE(state) << length;
    EXPECT_EQ(state.error().code, Code::kSetupMismatch);
    EXPECT_THAT(state.error().message, HasSubstr("expected "));
  }
}

}  // namespace
}  // namespace commrig::bootstrap
