// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/tcp_frame.h"

#include <cstring>
#include <vector>

#include <gmock/gmock.h>

#include "base/rng.h"

namespace commrig::transport {
namespace {

using Bytes = std::vector<std::byte>;
using testing::HasSubstr;
using Event = FrameReader::Event;

void append(Bytes& stream, const void* data, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(data);
  stream.insert(stream.end(), begin, begin + bytes);
}

void append_message(Bytes& stream, std::uint32_t sequence, const Bytes& bytes) {
  const FrameHeader header = make_header(FrameKind::kMessage, sequence, bytes.size());
  append(stream, &header, sizeof(header));
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    append(stream, bytes.data() + at, std::min(kPieceBytes, bytes.size() - at));
    append(stream, &kMarkGood, kMarkBytes);
  }
}

// Gives out a stream in parts of at most `step` bytes, and nothing every other time.
class Trickle {
 public:
  Trickle(const Bytes& stream, std::size_t step) : stream_(stream), step_(step) {}
  Result<std::size_t> operator()(std::span<std::byte> target) {
    pauses_ = !pauses_;
    if (pauses_) return std::size_t{0};
    const std::size_t bytes = std::min({target.size(), step_, stream_.size() - position_});
    if (bytes != 0) std::memcpy(target.data(), stream_.data() + position_, bytes);
    position_ += bytes;
    return bytes;
  }

 private:
  const Bytes& stream_;
  std::size_t step_;
  std::size_t position_ = 0;
  bool pauses_ = false;
};

Result<Event> read_all(FrameReader& reader, Trickle& trickle, Incoming& message) {
  while (true) {
    COMMRIG_ASSIGN(const Event event, reader.read(message, trickle));
    if (event != Event::kNothing) return event;
  }
}

TEST(FrameReader, FindsTheSameMessagesHoweverTheStreamIsCut) {
  const std::uint64_t seed = seed_from_environment(20'251'203);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  std::vector<Bytes> messages;
  Bytes stream;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{20'000}, kPieceBytes - 1,
        kPieceBytes, kPieceBytes + 1, 2 * kPieceBytes, std::size_t{700'000}, std::size_t{3}}) {
    Bytes& message = messages.emplace_back(size);
    for (std::byte& byte : message) byte = static_cast<std::byte>(rng.next());
    append_message(stream, static_cast<std::uint32_t>(messages.size() - 1), message);
  }
  for (const std::size_t step : {std::size_t{7}, std::size_t{37}, std::size_t{4099}, kPieceBytes}) {
    FrameReader reader;
    Trickle trickle(stream, step);
    for (const Bytes& expected : messages) {
      Bytes found(expected.size());
      Incoming message{.data = found.data(), .bytes = found.size()};
      const Result<Event> event = read_all(reader, trickle, message);
      ASSERT_TRUE(event.has_value()) << to_string(event.error());
      ASSERT_EQ(*event, Event::kMessage);
      ASSERT_TRUE(found == expected) << found.size() << " bytes in steps of " << step;
    }
    EXPECT_FALSE(reader.in_message());
  }
}

TEST(FrameReader, EveryChangedBitOfAHeaderIsSeen) {
  for (std::size_t bit = 0; bit < 8 * sizeof(FrameHeader); ++bit) {
    FrameHeader header = make_header(FrameKind::kMessage, 0, 5);
    auto* const bytes = reinterpret_cast<std::byte*>(&header);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const Status status = check_header(header, 0);
    ASSERT_FALSE(status.has_value()) << "bit " << bit;
    EXPECT_EQ(status.error().code, Code::kBadFrame);
  }
}

TEST(FrameReader, NothingButLastWordsMayFollowAVoidPiece) {
  Bytes stream;
  const FrameHeader first = make_header(FrameKind::kMessage, 0, 4);
  append(stream, &first, sizeof(first));
  append(stream, "zero", 4);
  append(stream, &kMarkVoid, kMarkBytes);
  append_message(stream, 1, Bytes(4));
  FrameReader reader;
  Trickle trickle(stream, 100);
  Bytes target(4);
  Incoming message{.data = target.data(), .bytes = 4};
  const Result<Event> event = read_all(reader, trickle, message);
  ASSERT_FALSE(event.has_value());
  EXPECT_THAT(to_string(event.error()), HasSubstr("follows a piece that was marked as void"));
}

TEST(FrameReader, AMarkThatIsNoneIsNamed) {
  Bytes stream;
  const FrameHeader first = make_header(FrameKind::kMessage, 0, 4);
  append(stream, &first, sizeof(first));
  append(stream, "datamark", 8);
  FrameReader reader;
  Trickle trickle(stream, 100);
  Bytes target(4);
  Incoming message{.data = target.data(), .bytes = 4};
  const Result<Event> event = read_all(reader, trickle, message);
  ASSERT_FALSE(event.has_value());
  EXPECT_THAT(to_string(event.error()), HasSubstr("mark after a piece of message 0: found 0x6b72"));
}

TEST(FrameReader, LastWordsStayUntilTheyAreHeard) {
  Bytes stream;
  append_message(stream, 0, Bytes(10));
  const FrameHeader last = make_header(FrameKind::kRefusal, 1, 10, 20);
  append(stream, &last, sizeof(last));
  FrameReader reader;
  Trickle trickle(stream, 1000);
  const auto look = [&] { return *reader.look_for_last_words(trickle); };
  EXPECT_EQ(look(), Event::kNothing);
  EXPECT_EQ(look(), Event::kNothing);
  Bytes target(10);
  Incoming message{.data = target.data(), .bytes = 10};
  ASSERT_EQ(*read_all(reader, trickle, message), Event::kMessage);
  EXPECT_EQ(look(), Event::kLastWords);
  Incoming next{.data = target.data(), .bytes = 10};
  EXPECT_EQ(*read_all(reader, trickle, next), Event::kLastWords);
  EXPECT_EQ(reader.header().bytes, 10U);
  EXPECT_EQ(reader.header().expected, 20U);
}

}  // namespace
}  // namespace commrig::transport
