// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/finding.h"
#include "base/result.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "mc2/layout.h"

namespace commrig::mc2 {

// The numbers that stood on the wire, kept for people; two messages that differ only here are
// equal.
struct WireCodes {
  std::uint32_t command = 0;
  std::uint32_t op = 0;
  std::uint32_t dtype = 0;
};

// What a kernel asks of the server, independent of a layout. Counts and strides are in elements; a
// count is per rank. Parts that a layout has no field for keep their defaults when decoded and are
// dropped when encoded: in readme-112 all that stands after `stride`, but `dtype`.
struct Message {
  Command command = Command::kInvalid;
  std::optional<dtype::ReduceOp> op{};  // of reductions only
  std::uint64_t send = 0;               // device addresses
  std::uint64_t recv = 0;
  std::uint64_t count = 0;
  std::uint64_t stride = 0;                  // 0: packed
  dtype::Dtype dtype = dtype::Dtype::kInt8;  // means nothing in control messages and batch writes
  std::uint32_t queue = 0;                   // batch write only; stands in the type's word
  std::uint32_t queue_row = 0;               // batch write only; stands in the reduction's word

  std::uint8_t repeat = 1;  // turns; 0 in control messages
  std::int8_t handle = 0;
  std::uint8_t sequence = 0;
  std::uint8_t version = 0;  // chooses the form; control messages always have 0
  std::uint64_t tiling = 0;  // versions 1 to 3: address, offset or key

  // Version 0 only. The kernel side writes them as 0, except group and handle of a group sync.
  std::uint32_t peer = 0;
  std::uint8_t every_turn_response = 0;
  std::uint8_t every_turn_wait = 0;
  std::int8_t dep_group = 0;
  std::int8_t dep_handle = 0;

  WireCodes wire{};  // written by decode only

  friend bool operator==(const Message& a, const Message& b);
};

Message finalize_message();
// Asks that `handle` of group `group` be complete first.
Message group_sync_message(std::int8_t group, std::int8_t handle);

// Where bytes were read, for findings. Parts that are not known stay -1.
struct Place {
  int rank = -1;
  int slot = -1;
  std::int64_t offset = -1;  // of the first byte, from the workspace base
};

// The place of the message in `slot` of `rank`'s workspace.
Place message_place(const Layout& layout, int rank, int slot);

// The check word of a message: exclusive or of the words before it, the valid word counted as its
// mask whatever it holds, so that a taken message still sums up. Only for layouts that have one;
// `bytes` holds at least a message.
std::uint32_t check_word(const Layout& layout, std::span<const std::byte> bytes);

// Writes the whole message, valid and check word included, in the form of `message.version`; the
// rest of the layout's message bytes become 0. Encode to private memory, store everything but the
// word at layout.valid_offset, then that word alone, last. Fails when the layout has no code for
// command (kUnsupportedCommand), type (kBadDtypeCode) or reduction (kBadOpCode), or no such version
// (kBadVersion), or when `out` is shorter than a message.
Status encode(const Layout& layout, const Message& message, std::span<std::byte> out);

// Reads a message of which `bytes` is a private copy. Returns nothing and fills `out`, or the first
// thing that is wrong, in the order length, check word, command, version, reduction, type; `out` is
// then unspecified. A Finding and not a Result, because who reads it wants the parts; to_error()
// makes an Error of it. The valid word is the caller's to look at, and so is what depends on more
// than one word: addresses, counts, repeat, handle, sequence.
[[nodiscard]] std::optional<Finding> decode(const Layout& layout, std::span<const std::byte> bytes,
                                            const Place& place, Message& out);

}  // namespace commrig::mc2
