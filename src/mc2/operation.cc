// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/operation.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "mc2/range.h"

namespace commrig::mc2 {
namespace {

// An unsigned number that knows whether it still fits 64 bits.
struct Wide {
  std::uint64_t value = 0;
  bool fits = true;

  friend Wide operator*(Wide a, Wide b) {
    Wide out;
    out.fits = !__builtin_mul_overflow(a.value, b.value, &out.value) && a.fits && b.fits;
    return out;
  }
  friend Wide operator+(Wide a, Wide b) {
    Wide out;
    out.fits = !__builtin_add_overflow(a.value, b.value, &out.value) && a.fits && b.fits;
    return out;
  }
};

bool is_served(Command command) {
  constexpr std::array kServed{Command::kAllReduce, Command::kAllGather, Command::kReduceScatter,
                               Command::kAllToAll, Command::kAllToAllV};
  return std::ranges::find(kServed, command) != kServed.end();
}

// The end of the furthest block of an all-to-all-v, in elements.
Wide table_end(const SideMessage::Entries& counts, const SideMessage::Entries& offsets,
               std::uint32_t ranks, std::uint64_t repeat) {
  Wide end;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (counts[rank] == 0) continue;
    const Wide block = Wide{offsets[rank]} + Wide{counts[rank]} * Wide{repeat};
    if (!block.fits) return block;
    end.value = std::max(end.value, block.value);
  }
  return end;
}

using MaybeFinding = std::optional<Finding>;

MaybeFinding check_meaning(const Submission& submission, const Finder& finder,
                           const Layout& layout) {
  const Message& message = submission.message;
  if (!is_served(message.command)) {
    return finder.at(Code::kUnsupportedCommand, Part::kCommand,
                     "all-reduce, all-gather, reduce-scatter, all-to-all or all-to-all-v",
                     std::string(name(message.command)));
  }
  if (layout.carries_repeat && message.repeat == 0) {
    return finder.at(Code::kZeroRepeat, Part::kRepeat, "1 to 255", "0");
  }
  if (layout.fixes_no_op && !is_reduction(message.command) &&
      message.wire.op != layout.no_op_code) {
    return finder.at(Code::kBadOpCode, Part::kOp, std::to_string(layout.no_op_code),
                     std::to_string(message.wire.op), "this operation reduces nothing");
  }
  if (is_reduction(message.command) && !dtype::info(message.dtype).has_arithmetic) {
    return finder.at(Code::kNoArithmetic, Part::kDtype, "a type with arithmetic",
                     std::string(dtype::info(message.dtype).name));
  }
  if (message.command != Command::kAllToAllV && message.count == 0) {
    return finder.at(Code::kCountZero, Part::kCount, "at least 1", "0");
  }
  // An all-reduce has no blocks, so its stride means nothing.
  const bool has_blocks =
      message.command != Command::kAllReduce && message.command != Command::kAllToAllV;
  const Wide block = Wide{message.count} * Wide{submission.turns};
  const bool stride_counts = message.stride != 0 || !layout.carries_repeat;
  if (has_blocks && stride_counts && (!block.fits || block_stride(message) < block.value)) {
    return finder.at(Code::kStrideTooSmall, Part::kStride,
                     fmt::format("at least {} x {}", message.count, submission.turns),
                     std::to_string(message.stride));
  }
  return std::nullopt;
}

MaybeFinding check_buffer(const device::Memory& memory, const Finder& finder, Part part,
                          Range range, std::uint64_t alignment) {
  if (range.start == 0) return finder.at(Code::kNullBuffer, part, "a device address", "0");
  if (range.bytes == 0) return std::nullopt;  // An all-to-all-v in which this side has nothing.
  const Result<device::Window> window =
      memory.resolve(reinterpret_cast<const void*>(range.start), range.bytes, alignment);
  if (window.has_value()) return std::nullopt;
  return finder.at(Code::kShortBuffer, part,
                   fmt::format("{} bytes of live device memory", range.bytes),
                   fmt::format("{:#x}", range.start), to_string(window.error()));
}

// The address that the target must have when it shares memory with the source.
std::optional<std::uint64_t> in_place_target(const Message& message, std::uint32_t rank) {
  const std::uint64_t block = rank * block_stride(message) * dtype::size_of(message.dtype);
  switch (message.command) {
    case Command::kAllReduce:
      return message.send;
    case Command::kAllGather:
      return message.send - block;
    case Command::kReduceScatter:
      return message.send + block;
    default:
      return std::nullopt;
  }
}

MaybeFinding check_overlap(const Message& message, const Finder& finder, const Extent& bytes,
                           std::uint32_t rank) {
  const Range send{message.send, bytes.send};
  const Range recv{message.recv, bytes.recv};
  if (!send.overlaps(recv)) return std::nullopt;
  const std::optional<std::uint64_t> target = in_place_target(message, rank);
  if (target == message.recv) return std::nullopt;
  const std::string expected = target.has_value() ? fmt::format("{:#x} or separate memory", *target)
                                                  : std::string("separate memory");
  return finder.at(Code::kBuffersOverlap, Part::kRecv, expected, fmt::format("{:#x}", message.recv),
                   fmt::format("the source is {} bytes at {:#x}, the target {} bytes", bytes.send,
                               message.send, bytes.recv));
}

}  // namespace

Finder::Finder(const Layout& layout, const Place& place, const Message& message)
    : layout_(layout), place_(place), form_(find_form(layout, message.version)) {}

Finding Finder::at(Code code, Part part, std::string expected, std::string found,
                   std::string detail) const {
  Finding finding{.code = code,
                  .rank = place_.rank,
                  .slot = place_.slot,
                  .expected = std::move(expected),
                  .found = std::move(found),
                  .detail = std::move(detail)};
  const Field* field = form_ != nullptr ? find_field(layout_, *form_, part) : nullptr;
  if (field != nullptr) {
    finding.field = field->name;
    finding.offset = place_.offset >= 0 ? place_.offset + field->offset : -1;
  }
  return finding;
}

std::uint64_t block_stride(const Message& message) {
  return message.stride != 0 ? message.stride : message.count * message.repeat;
}

std::optional<Extent> extent(const Submission& submission, std::uint32_t ranks) {
  const Message& message = submission.message;
  const Wide own = Wide{message.count} * Wide{submission.turns};
  const Wide packed = Wide{message.count} * Wide{message.repeat};
  const Wide stride = message.stride != 0 ? Wide{message.stride} : packed;
  const Wide blocks = stride * Wide{ranks - 1} + own;
  Wide send;
  Wide recv;
  switch (message.command) {
    case Command::kAllReduce:
      send = recv = own;
      break;
    case Command::kAllGather:
      send = own, recv = blocks;
      break;
    case Command::kReduceScatter:
      send = blocks, recv = own;
      break;
    case Command::kAllToAllV: {
      const SideMessage& table = *submission.table;
      send = table_end(table.send_counts, table.send_offsets, ranks, submission.turns);
      recv = table_end(table.recv_counts, table.recv_offsets, ranks, submission.turns);
      break;
    }
    default:
      send = recv = blocks;
      break;
  }
  const Wide size{dtype::size_of(message.dtype)};
  // The ends of the ranges must be addresses too.
  const Wide send_bytes = send * size;
  const Wide recv_bytes = recv * size;
  const bool fits =
      (send_bytes + Wide{message.send}).fits && (recv_bytes + Wide{message.recv}).fits;
  if (!fits) return std::nullopt;
  return Extent{send_bytes.value, recv_bytes.value};
}

std::optional<Finding> check_submission(const Submission& submission, const Layout& layout,
                                        const device::Memory& memory, const Place& place,
                                        std::uint32_t ranks) {
  const Message& message = submission.message;
  const Finder finder(layout, place, message);
  if (MaybeFinding finding = check_meaning(submission, finder, layout)) return finding;
  if (message.send == 0) return finder.at(Code::kNullBuffer, Part::kSend, "a device address", "0");
  if (message.recv == 0) return finder.at(Code::kNullBuffer, Part::kRecv, "a device address", "0");
  const std::optional<Extent> bytes = extent(submission, ranks);
  if (!bytes.has_value()) {
    return finder.at(
        Code::kCountZero, Part::kCount, "a size that fits 64 bits", std::to_string(message.count),
        fmt::format("stride {}, repeat {}, {} ranks", message.stride, message.repeat, ranks));
  }
  const std::uint64_t alignment = dtype::info(message.dtype).alignment;
  if (auto finding =
          check_buffer(memory, finder, Part::kSend, {message.send, bytes->send}, alignment)) {
    return finding;
  }
  if (auto finding =
          check_buffer(memory, finder, Part::kRecv, {message.recv, bytes->recv}, alignment)) {
    return finding;
  }
  return check_overlap(message, finder, *bytes, static_cast<std::uint32_t>(place.rank));
}

}  // namespace commrig::mc2
