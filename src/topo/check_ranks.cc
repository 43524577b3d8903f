// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "topo/checks.h"

namespace commrig::topo {
namespace {

constexpr std::size_t kListedMax = 8;

std::string listed(const std::vector<int>& numbers) {
  const std::size_t shown = std::min(numbers.size(), kListedMax);
  std::string text = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<int>(shown), ", "));
  if (shown < numbers.size()) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

Node rank_value(const Reading& reading, const Rank& rank) {
  return reading.place(rank.node, "rank_id");
}

// The lowest and the highest rank; -1 where none is readable.
std::pair<int, int> extremes(const Cluster& cluster) {
  int least = -1;
  int most = -1;
  for (const Rank& rank : cluster.ranks) {
    if (rank.id < 0) continue;
    least = least < 0 ? rank.id : std::min(least, rank.id);
    most = std::max(most, rank.id);
  }
  return {least, most};
}

// All ids are there, but they start above 0: this is a part of a table.
bool report_part(Reading& reading) {
  const auto& ranks = reading.cluster.ranks;
  const int size = static_cast<int>(ranks.size());
  const auto [least, most] = extremes(reading.cluster);
  if (least <= 0 || most - least + 1 != size) return false;
  std::vector<bool> seen(ranks.size());
  for (const Rank& rank : ranks) {
    if (rank.id < 0 || seen[static_cast<std::size_t>(rank.id - least)]) return false;
    seen[static_cast<std::size_t>(rank.id - least)] = true;
  }
  TableFinding& finding = reading.findings.add_value(
      Rule::kRankRange, rank_value(reading, ranks.front()), fmt::format("0 to {}", size - 1));
  finding.detail = fmt::format("the table holds ranks {} to {}: is it a part of one?", least, most);
  return true;
}

void check_ids(Reading& reading) {
  const auto& ranks = reading.cluster.ranks;
  std::vector<int> owner(ranks.size(), -1);
  std::vector<int> beyond;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto id = static_cast<std::size_t>(ranks[i].id);
    if (ranks[i].id < 0) continue;
    if (id >= ranks.size()) {
      beyond.push_back(static_cast<int>(i));
    } else if (owner[id] < 0) {
      owner[id] = static_cast<int>(i);
    } else {
      TableFinding& finding = reading.findings.add_value(
          Rule::kRankTwice, rank_value(reading, ranks[i]), "each rank once");
      const Rank& first = ranks[static_cast<std::size_t>(owner[id])];
      finding.related.push_back(reading.findings.place(rank_value(reading, first)));
    }
  }
  if (reading.elided) return;
  std::vector<int> missing;
  for (std::size_t id = 0; id < owner.size(); ++id) {
    if (owner[id] < 0) missing.push_back(static_cast<int>(id));
  }
  for (const int i : beyond) {
    TableFinding& finding = reading.findings.add_value(
        Rule::kRankRange, rank_value(reading, ranks[static_cast<std::size_t>(i)]),
        fmt::format("0 to {}", ranks.size() - 1));
    if (!missing.empty()) finding.detail = "missing: " + listed(missing);
  }
}

// Ranks of a server that do not follow each other.
void check_blocks(Reading& reading) {
  const Cluster& cluster = reading.cluster;
  if (cluster.servers.size() < 2 || reading.elided) return;
  for (const Server& server : cluster.servers) {
    std::vector<int> ids;
    for (const std::uint32_t i : server.ranks) ids.push_back(cluster.ranks[i].id);
    std::ranges::sort(ids);
    const bool readable = !ids.empty() && ids.front() >= 0 &&
                          std::ranges::adjacent_find(ids) == ids.end() &&
                          ids.back() < static_cast<int>(cluster.ranks.size());
    if (!readable || ids.back() - ids.front() + 1 == static_cast<int>(ids.size())) continue;
    TableFinding& finding =
        reading.findings.add(Rule::kInterleaved, reading.place(server.node, "server_id"));
    finding.detail = fmt::format("server \"{}\" has ranks {}", server.id, listed(ids));
  }
}

void check_own(Reading& reading) {
  const CheckOptions& options = reading.options;
  if (!options.rank) return;
  const auto& ranks = reading.cluster.ranks;
  const auto own = std::ranges::find(ranks, *options.rank, &Rank::id);
  if (own == ranks.end()) {
    TableFinding& finding = reading.findings.add(Rule::kOwnRank, reading.document.root());
    finding.found = std::to_string(*options.rank);
    finding.expected = fmt::format("one of the {} ranks of the table", ranks.size());
  } else if (options.device && own->device != *options.device) {
    TableFinding& finding =
        reading.findings.add_value(Rule::kOwnDevice, reading.place(own->device_node, "device_id"),
                                   fmt::format("{}, the device of the process", *options.device));
    finding.detail = fmt::format("for rank {}", *options.rank);
  }
}

}  // namespace

void check_ranks(Reading& reading) {
  if (reading.cluster.ranks.empty()) return;
  // Those of the cloud form are given out, not read.
  if (reading.cluster.form != Form::kCloud && (reading.elided || !report_part(reading))) {
    check_ids(reading);
    check_blocks(reading);
  }
  check_own(reading);
}

}  // namespace commrig::topo
