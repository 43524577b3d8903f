// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/address.h"
#include "base/result.h"

namespace commrig::bootstrap {

// The root protocol of the libraries 2.23 to 2.28, over TCP, little-endian:
//   whoever connects    u64 number of the unique id, i32 kind of connection
//   then messages       i32 length, as many bytes
//   rank to root        172 bytes: i32 rank, ranks, index of the root, number of roots;
//                       28 address where the rank waits for its answer; 128 connect info, which
//                       begins with the 28 of the address where it waits for the previous rank
//   root to rank        128 bytes: connect info of the next rank; over a connection that the root
//                       makes
// Ours adds two things that others don't see:
//   notices             instead of a message: i32 length with kNoticeFlag, which is too large for a
//                       receiver that doesn't know them, and an error as text
//   attachment          a root repeats the 12 bytes on the connection of a check-in and keeps it; a
//                       rank that knows this answers with its process id, i32. From then on each
//                       sees the other's end. Other ranks have closed the connection by then.

inline constexpr std::size_t kHandshakeBytes = 12;
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kInfoBytes = 128;
inline constexpr std::size_t kCheckInBytes = 172;
inline constexpr std::uint32_t kNoticeFlag = 0x40000000;
inline constexpr std::size_t kNoticeBytesMax = 16384;

using Handshake = std::array<std::byte, kHandshakeBytes>;
using ConnectInfo = std::array<std::byte, kInfoBytes>;

Handshake make_handshake(std::uint64_t magic);

struct CheckIn {
  int rank = 0;
  int ranks = 0;
  int root_index = 0;
  int roots = 1;
  Address answer_to;
  ConnectInfo info{};

  bool operator==(const CheckIn&) const = default;
};

std::array<std::byte, kCheckInBytes> encode(const CheckIn& record);
// Fails with kSetupMismatch on what no rank may say.
Result<CheckIn> decode_check_in(std::span<const std::byte, kCheckInBytes> bytes);

ConnectInfo make_info(const Address& ring);
Result<Address> ring_address(const ConnectInfo& info);

// A message with its length in front.
std::vector<std::byte> framed(std::span<const std::byte> payload);
// The same after a handshake: everything that a connection of the root protocol carries.
std::vector<std::byte> with_handshake(std::uint64_t magic, std::span<const std::byte> message);
// An error as a notice, its length in front; a text that is too long is cut, and says so.
std::vector<std::byte> make_notice(const Error& error);
// The error in the payload of a notice.
Error read_notice(std::span<const std::byte> payload);
// The payload's length when the length word announces a notice; an error when that is too long.
Result<std::optional<std::size_t>> notice_length(std::uint32_t length_word);

// Takes a handshake and one message of a known length, in pieces of any size; never more than what
// is due. Pure: whoever owns the connection reads into space().
class MessageReader {
 public:
  enum class State : std::uint8_t { kMore, kDone, kStranger };

  // What a length other than `payload_bytes` means is a matter of both sides' versions. No length:
  // the handshake is everything.
  MessageReader(std::uint64_t magic, std::optional<std::size_t> payload_bytes);

  // Where the next bytes go; never empty before the end.
  std::span<std::byte> space();
  // `count` bytes were put there. kStranger: the handshake is not of this id. An error: a notice
  // has come, or a message of another length.
  Result<State> advance(std::size_t count);

  bool knows_id() const { return stage_ != Stage::kHandshake; }
  std::span<const std::byte> payload() const { return part_; }

 private:
  enum class Stage : std::uint8_t { kHandshake, kLength, kPayload, kNotice, kEnd };
  void begin(Stage stage, std::size_t bytes);
  Result<State> end_of_part();

  Handshake handshake_;
  std::optional<std::size_t> payload_bytes_;
  Stage stage_ = Stage::kHandshake;
  std::vector<std::byte> part_;
  std::size_t filled_ = 0;
};

}  // namespace commrig::bootstrap
