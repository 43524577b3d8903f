// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/finding.h"
#include "base/result.h"
#include "mc2/layout.h"
#include "mc2/message.h"

namespace commrig::mc2 {

inline constexpr std::uint32_t kSideMessageRanks = 256;
inline constexpr std::uint32_t kSideMessageBytes = 8256;

// Counts and offsets of an all-to-all-v, in elements, one entry a rank. It lies in the side area
// under the slot number of its message and is written before the message. 8 KiB: mind the stack.
struct SideMessage {
  using Entries = std::array<std::uint64_t, kSideMessageRanks>;
  Entries send_counts{};
  Entries send_offsets{};
  Entries recv_counts{};
  Entries recv_offsets{};

  bool operator==(const SideMessage&) const = default;
};

// The vendor's fields, in wire order: the four arrays, then reserved words, valid and check word.
std::span<const Field> side_message_fields();
// The valid word, stored last as with messages, and the check word.
const Field& side_valid_field();
const Field& side_check_field();

// The place of the side message in `slot` of `rank`'s workspace.
Place side_message_place(const Layout& layout, int rank, int slot);

// Exclusive or of the first `ranks` entries (<= 256) of the four arrays and the valid mask.
std::uint64_t side_check_word(const Layout& layout, std::span<const std::byte> bytes,
                              std::uint32_t ranks);

// Writes the whole side message for `ranks` ranks, valid and check word included, the rest 0.
// Fails with kUnsupportedCommand where the layout has no side messages, kRankCount outside 1..256,
// kWorkspaceTooSmall when `out` is shorter than a side message.
Status encode_side(const Layout& layout, const SideMessage& message, std::uint32_t ranks,
                   std::span<std::byte> out);

// Reads a side message of which `bytes` is a private copy; entries beyond `ranks` become 0. Unlike
// decode() it looks at the valid word too, because nobody polls that one: it must hold the mask by
// the time that the message is there. Returns nothing, or a kSideMessage finding (or one of the
// failures of encode_side); `out` is then unspecified.
[[nodiscard]] std::optional<Finding> decode_side(const Layout& layout,
                                                 std::span<const std::byte> bytes,
                                                 std::uint32_t ranks, const Place& place,
                                                 SideMessage& out);

}  // namespace commrig::mc2
