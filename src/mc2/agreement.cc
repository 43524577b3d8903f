// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "mc2/operation.h"
#include "mc2/range.h"

namespace commrig::mc2 {
namespace {

using Submissions = std::span<const Submission* const>;

// Something that all ranks must say alike, as text.
struct Aspect {
  Code code;
  Part part;
  std::string (*text)(const Message& message);
};

std::string op_text(const Message& message) {
  return message.op.has_value() ? std::string(dtype::name(*message.op)) : std::string("none");
}

constexpr std::array kAspects{
    Aspect{Code::kGroupMismatch, Part::kCommand,
           [](const Message& message) { return std::string(name(message.command)); }},
    Aspect{Code::kGroupMismatch, Part::kDtype,
           [](const Message& message) { return std::string(dtype::info(message.dtype).name); }},
    Aspect{Code::kGroupMismatch, Part::kOp, op_text},
    Aspect{Code::kGroupMismatch, Part::kCount,
           [](const Message& message) { return std::to_string(message.count); }},
    Aspect{Code::kGroupMismatch, Part::kStride,
           [](const Message& message) { return std::to_string(block_stride(message)); }},
    Aspect{Code::kGroupMismatch, Part::kRepeat,
           [](const Message& message) { return std::to_string(message.repeat); }},
};

// Which ranks said what, when they did not all say the same.
std::optional<Finding> compare(Submissions submissions, const Layout& layout, int slot,
                               const Aspect& aspect) {
  std::map<std::string, std::vector<int>> said;
  for (std::size_t rank = 0; rank < submissions.size(); ++rank) {
    said[aspect.text(submissions[rank]->message)].push_back(static_cast<int>(rank));
  }
  if (said.size() == 1) return std::nullopt;
  // The most common text is taken as meant; among equals, the one of the lowest rank.
  const auto weight = [](const auto& entry) {
    return std::pair(entry.second.size(), -entry.second.front());
  };
  const auto meant = std::ranges::max_element(said, {}, weight);
  const auto guilty = std::ranges::min_element(said, {}, weight);
  const int rank = guilty->second.front();
  const Message& message = submissions[static_cast<std::size_t>(rank)]->message;
  std::string detail;
  for (const auto& [text, ranks] : said) {
    detail += fmt::format("{}rank{} {}: {}", detail.empty() ? "" : "; ",
                          ranks.size() == 1 ? "" : "s", fmt::join(ranks, ","), text);
  }
  return Finder(layout, message_place(layout, rank, slot), message)
      .at(aspect.code, aspect.part, meant->first, guilty->first, detail);
}

// Every pair's send and receive counts must agree.
std::optional<Finding> compare_tables(Submissions submissions, const Layout& layout, int slot) {
  for (std::size_t source = 0; source < submissions.size(); ++source) {
    for (std::size_t rank = 0; rank < submissions.size(); ++rank) {
      const std::uint64_t sent = submissions[source]->table->send_counts[rank];
      const std::uint64_t awaited = submissions[rank]->table->recv_counts[source];
      if (sent == awaited) continue;
      const Place place = side_message_place(layout, static_cast<int>(rank), slot);
      const Field& counts = side_message_fields()[2];
      return Finding{
          .code = Code::kSideMessage,
          .rank = static_cast<int>(rank),
          .slot = slot,
          .field = fmt::format("{}[{}]", counts.name, source),
          .offset = place.offset + counts.offset + static_cast<std::int64_t>(source * counts.width),
          .expected = std::to_string(sent),
          .found = std::to_string(awaited),
          .detail = fmt::format("rank {} sends {} elements to rank {}, which expects {}", source,
                                sent, rank, awaited)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_agreement(Submissions submissions, const Layout& layout, int slot) {
  for (const Aspect& aspect : kAspects) {
    if (auto finding = compare(submissions, layout, slot, aspect)) return finding;
  }
  if (submissions.front()->message.command != Command::kAllToAllV) return std::nullopt;
  return compare_tables(submissions, layout, slot);
}

std::optional<Finding> check_separation(Submissions submissions, const Layout& layout, int slot) {
  const auto ranks = static_cast<std::uint32_t>(submissions.size());
  std::vector<Range> sends;
  std::vector<Range> recvs;
  for (const Submission* submission : submissions) {
    const std::optional<Extent> bytes = extent(*submission, ranks);
    COMMRIG_CHECK(bytes.has_value(), "the submission was checked before");
    sends.push_back({submission->message.send, bytes->send});
    recvs.push_back({submission->message.recv, bytes->recv});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      const bool target = recvs[rank].overlaps(recvs[other]);
      if (!target && !recvs[rank].overlaps(sends[other])) continue;
      const Message& message = submissions[rank]->message;
      return Finder(layout, message_place(layout, static_cast<int>(rank), slot), message)
          .at(Code::kBuffersOverlap, Part::kRecv, "memory that no other rank uses",
              fmt::format("{:#x}", message.recv),
              fmt::format("it shares bytes with the {} of rank {}", target ? "target" : "source",
                          other));
    }
  }
  return std::nullopt;
}

}  // namespace commrig::mc2
