// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/side_message.h"

#include <algorithm>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

// From the public HCCL/AscendC headers.
constexpr std::array kFields{
    Field{.name = "sendCounts", .offset = 0x0000, .width = 8, .count = kSideMessageRanks},
    Field{.name = "sendOffset", .offset = 0x0800, .width = 8, .count = kSideMessageRanks},
    Field{.name = "recvCounts", .offset = 0x1000, .width = 8, .count = kSideMessageRanks},
    Field{.name = "recvOffset", .offset = 0x1800, .width = 8, .count = kSideMessageRanks},
    Field{.name = "reserved", .offset = 0x2000, .width = 8, .count = 6},
    Field{.name = "valid", .offset = 0x2030, .width = 8},
    Field{.name = "xorCheck", .offset = 0x2038, .width = 8},
};
constexpr std::span<const Field> kArrays = std::span(kFields).first<4>();
constexpr const Field& kValid = kFields[5];
constexpr const Field& kCheck = kFields[6];
static_assert(kCheck.end() == kSideMessageBytes);

// In the order of kArrays.
constexpr std::array kMembers{&SideMessage::send_counts, &SideMessage::send_offsets,
                              &SideMessage::recv_counts, &SideMessage::recv_offsets};

Finding finding_at(Code code, const Place& place, const Field* field) {
  Finding finding;
  finding.code = code;
  finding.rank = place.rank;
  finding.slot = place.slot;
  if (field != nullptr) finding.field = field->name;
  if (place.offset >= 0) {
    finding.offset = place.offset + (field == nullptr ? 0 : std::int64_t{field->offset});
  }
  return finding;
}

// What stands in the way before a single byte is looked at.
std::optional<Finding> check_arguments(const Layout& layout, std::uint32_t ranks, std::size_t bytes,
                                       const Place& place) {
  if (!layout.has_side_messages()) {
    Finding finding = finding_at(Code::kUnsupportedCommand, place, nullptr);
    finding.detail = fmt::format("{} has no side messages", layout.name);
    return finding;
  }
  if (ranks < 1 || ranks > kSideMessageRanks) {
    Finding finding = finding_at(Code::kRankCount, place, nullptr);
    finding.expected = fmt::format("1 to {} ranks in a side message", kSideMessageRanks);
    finding.found = fmt::format("{}", ranks);
    return finding;
  }
  if (bytes < kSideMessageBytes) {
    Finding finding = finding_at(Code::kWorkspaceTooSmall, place, nullptr);
    finding.expected = fmt::format("a side message of {} bytes", kSideMessageBytes);
    finding.found = fmt::format("{} bytes", bytes);
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_field(std::span<const std::byte> bytes, const Field& field,
                                   std::uint64_t expected, const Place& place) {
  const std::uint64_t found = load(bytes, field);
  if (found == expected) return std::nullopt;
  Finding finding = finding_at(Code::kSideMessage, place, &field);
  finding.expected = fmt::format("{:#x}", expected);
  finding.found = fmt::format("{:#x}", found);
  return finding;
}

}  // namespace

std::span<const Field> side_message_fields() {
  return kFields;
}

const Field& side_valid_field() {
  return kValid;
}

const Field& side_check_field() {
  return kCheck;
}

Place side_message_place(const Layout& layout, int rank, int slot) {
  Place place{.rank = rank, .slot = slot};
  if (slot >= 0) {
    const auto unsigned_slot = static_cast<std::uint32_t>(slot);
    place.offset = static_cast<std::int64_t>(layout.side_message_at(unsigned_slot));
  }
  return place;
}

std::uint64_t side_check_word(const Layout& layout, std::span<const std::byte> bytes,
                              std::uint32_t ranks) {
  COMMRIG_CHECK(ranks <= kSideMessageRanks, fmt::format("{} ranks", ranks));
  std::uint64_t word = layout.valid;
  for (const Field& array : kArrays) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) word ^= load(bytes, array, rank);
  }
  return word;
}

Status encode_side(const Layout& layout, const SideMessage& message, std::uint32_t ranks,
                   std::span<std::byte> out) {
  if (const auto wrong = check_arguments(layout, ranks, out.size(), Place{})) {
    return to_error(*wrong);
  }
  const std::span<std::byte> bytes = out.first(kSideMessageBytes);
  std::ranges::fill(bytes, std::byte{0});
  for (std::size_t i = 0; i < kArrays.size(); ++i) {
    const SideMessage::Entries& entries = message.*kMembers[i];
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      store(bytes, kArrays[i], entries[rank], rank);
    }
  }
  store(bytes, kCheck, side_check_word(layout, bytes, ranks));
  store(bytes, kValid, layout.valid);
  return ok();
}

std::optional<Finding> decode_side(const Layout& layout, std::span<const std::byte> bytes,
                                   std::uint32_t ranks, const Place& place, SideMessage& out) {
  if (auto wrong = check_arguments(layout, ranks, bytes.size(), place)) return wrong;
  if (auto wrong = check_field(bytes, kValid, layout.valid, place)) {
    wrong->detail = "a side message is written before its message";
    return wrong;
  }
  if (auto wrong = check_field(bytes, kCheck, side_check_word(layout, bytes, ranks), place)) {
    wrong->detail = fmt::format("the check word sums the entries of {} ranks", ranks);
    return wrong;
  }
  out = SideMessage{};
  for (std::size_t i = 0; i < kArrays.size(); ++i) {
    SideMessage::Entries& entries = out.*kMembers[i];
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      entries[rank] = load(bytes, kArrays[i], rank);
    }
  }
  return std::nullopt;
}

}  // namespace commrig::mc2
