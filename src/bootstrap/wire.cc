// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/wire.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"

namespace commrig::bootstrap {
namespace {

constexpr std::int32_t kBootstrapConnection = 1;
constexpr std::string_view kNoticeMark = "commrig notice 1";
constexpr std::string_view kCut = " (cut)";

template <class Number>
void put(std::span<std::byte> bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

template <class Number>
Number get(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

Error mismatch(std::string text) {
  return Error::make(Code::kSetupMismatch, std::move(text));
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

}  // namespace

Handshake make_handshake(std::uint64_t magic) {
  Handshake bytes{};
  put(bytes, 0, magic);
  put(bytes, 8, kBootstrapConnection);
  return bytes;
}

std::array<std::byte, kCheckInBytes> encode(const CheckIn& record) {
  std::array<std::byte, kCheckInBytes> bytes{};
  put(bytes, 0, record.rank);
  put(bytes, 4, record.ranks);
  put(bytes, 8, record.root_index);
  put(bytes, 12, record.roots);
  std::ranges::copy(record.answer_to.wire(), bytes.begin() + 16);
  std::ranges::copy(record.info, bytes.begin() + 44);
  return bytes;
}

Result<CheckIn> decode_check_in(std::span<const std::byte, kCheckInBytes> bytes) {
  CheckIn record;
  record.rank = get<std::int32_t>(bytes, 0);
  record.ranks = get<std::int32_t>(bytes, 4);
  record.root_index = get<std::int32_t>(bytes, 8);
  record.roots = get<std::int32_t>(bytes, 12);
  if (record.ranks < 1) return mismatch(fmt::format("check-in: {} ranks", record.ranks));
  if (record.rank < 0 || record.rank >= record.ranks) {
    return mismatch(
        fmt::format("check-in: rank {}, expected 0 to {}", record.rank, record.ranks - 1));
  }
  if (record.roots != 1 || record.root_index != 0) {
    return mismatch(fmt::format("check-in of rank {}: root {} of {}, expected root 0 of 1",
                                record.rank, record.root_index, record.roots));
  }
  const auto answer_to = Address::from_wire(bytes.subspan<16, Address::kWireBytes>());
  if (!answer_to || answer_to->port() == 0) {
    return mismatch(fmt::format("check-in of rank {}: {}", record.rank,
                                answer_to ? "its address has no port" : answer_to.error().message));
  }
  record.answer_to = *answer_to;
  std::ranges::copy(bytes.subspan<44>(), record.info.begin());
  return record;
}

ConnectInfo make_info(const Address& ring) {
  ConnectInfo info{};
  std::ranges::copy(ring.wire(), info.begin());
  return info;
}

Result<Address> ring_address(const ConnectInfo& info) {
  return Address::from_wire(std::span(info).subspan<0, Address::kWireBytes>());
}

std::vector<std::byte> framed(std::span<const std::byte> payload) {
  COMMRIG_CHECK(payload.size() < kNoticeFlag, fmt::to_string(payload.size()));
  std::vector<std::byte> bytes(kLengthBytes + payload.size());
  put(bytes, 0, static_cast<std::uint32_t>(payload.size()));
  std::ranges::copy(payload, bytes.begin() + kLengthBytes);
  return bytes;
}

std::vector<std::byte> with_handshake(std::uint64_t magic, std::span<const std::byte> message) {
  std::vector<std::byte> bytes(kHandshakeBytes + message.size());
  std::ranges::copy(make_handshake(magic), bytes.begin());
  std::ranges::copy(message, bytes.begin() + kHandshakeBytes);
  return bytes;
}

std::vector<std::byte> make_notice(const Error& error) {
  std::vector<std::byte> bytes(kLengthBytes);
  append(bytes, kNoticeMark);
  append(bytes, code_info(error.code).id);
  append(bytes, "\n");
  const std::size_t room = kLengthBytes + kNoticeBytesMax - bytes.size() - kCut.size();
  append(bytes, std::string_view(error.message).substr(0, room));
  if (error.message.size() > room) append(bytes, kCut);
  put(bytes, 0, kNoticeFlag | static_cast<std::uint32_t>(bytes.size() - kLengthBytes));
  return bytes;
}

Error read_notice(std::span<const std::byte> payload) {
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kNoticeMark) || line == std::string_view::npos) {
    return mismatch(fmt::format("a notice of {} bytes can't be read", payload.size()));
  }
  const CodeInfo* info = find_code(text.substr(kNoticeMark.size(), line - kNoticeMark.size()));
  // A newer version may know more codes.
  const Code code = info != nullptr ? info->code : Code::kAborted;
  return Error::make(code, std::string(text.substr(line + 1)));
}

Result<std::optional<std::size_t>> notice_length(std::uint32_t length_word) {
  if ((length_word & ~(kNoticeFlag - 1)) != kNoticeFlag) return std::optional<std::size_t>();
  const std::size_t bytes = length_word & (kNoticeFlag - 1);
  if (bytes == 0 || bytes > kNoticeBytesMax) {
    return mismatch(fmt::format("a notice of {} bytes, expected 1 to {}", bytes, kNoticeBytesMax));
  }
  return std::optional(bytes);
}

MessageReader::MessageReader(std::uint64_t magic, std::optional<std::size_t> payload_bytes)
    : handshake_(make_handshake(magic)), payload_bytes_(payload_bytes) {
  begin(Stage::kHandshake, kHandshakeBytes);
}

void MessageReader::begin(Stage stage, std::size_t bytes) {
  stage_ = stage;
  part_.assign(bytes, std::byte{0});
  filled_ = 0;
}

std::span<std::byte> MessageReader::space() {
  return std::span(part_).subspan(filled_);
}

Result<MessageReader::State> MessageReader::advance(std::size_t count) {
  COMMRIG_CHECK(stage_ != Stage::kEnd && count <= part_.size() - filled_, fmt::to_string(count));
  filled_ += count;
  if (filled_ < part_.size()) return State::kMore;
  return end_of_part();
}

Result<MessageReader::State> MessageReader::end_of_part() {
  switch (stage_) {
    case Stage::kHandshake:
      if (!std::ranges::equal(part_, handshake_)) {
        stage_ = Stage::kEnd;
        return State::kStranger;
      }
      if (!payload_bytes_) {
        begin(Stage::kEnd, 0);
        return State::kDone;
      }
      begin(Stage::kLength, kLengthBytes);
      return State::kMore;
    case Stage::kLength: {
      const auto length = get<std::uint32_t>(part_, 0);
      COMMRIG_ASSIGN(const std::optional<std::size_t> notice, notice_length(length));
      if (notice) {
        begin(Stage::kNotice, *notice);
        return State::kMore;
      }
      if (length != *payload_bytes_) {
        stage_ = Stage::kEnd;
        return mismatch(fmt::format("message of {} bytes, expected {}",
                                    static_cast<std::int32_t>(length), *payload_bytes_));
      }
      begin(Stage::kPayload, length);
      return length == 0 ? end_of_part() : State::kMore;
    }
    case Stage::kNotice:
      stage_ = Stage::kEnd;
      return read_notice(part_);
    case Stage::kPayload:
    case Stage::kEnd:
      break;
  }
  stage_ = Stage::kEnd;
  return State::kDone;
}

}  // namespace commrig::bootstrap
