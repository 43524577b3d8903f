// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/ip.h"

namespace commrig::topo {
namespace {

constexpr int kSpare = 64;

// One spare NPU, and the one that it replaces is not there.
void check_spare(Reading& reading) {
  const auto& ranks = reading.cluster.ranks;
  const Rank* spare = nullptr;
  for (const Rank& rank : ranks) {
    if (rank.local_id != kSpare) continue;
    const Node node = reading.place(rank.node, "local_id");
    if (spare != nullptr) {
      TableFinding& finding =
          reading.findings.add_value(Rule::kLocalId, node, "64 for one rank only");
      finding.related.push_back(reading.findings.place(reading.place(spare->node, "local_id")));
      continue;
    }
    spare = &rank;
  }
  if (spare == nullptr || spare->replaced_id < 0) return;
  // On the same server; elsewhere the number is another NPU.
  for (const std::uint32_t i :
       reading.cluster.servers[static_cast<std::size_t>(spare->server)].ranks) {
    if (ranks[i].local_id != spare->replaced_id) continue;
    TableFinding& finding = reading.findings.add_value(
        Rule::kReplacedId, reading.place(spare->node, "replaced_local_id"),
        "an NPU that is absent");
    finding.related.push_back(reading.findings.place(reading.place(ranks[i].node, "local_id")));
    return;
  }
}

void check_instances(Reading& reading) {
  std::map<std::pair<int, std::string_view>, const Level*> firsts;
  for (const Rank& rank : reading.cluster.ranks) {
    for (const Level& level : rank.levels) {
      if (level.layer < 0 || level.instance.empty()) continue;
      const auto [first, is_new] = firsts.emplace(std::pair(level.layer, level.instance), &level);
      const std::size_t usual = first->second->addresses.size();
      if (is_new || level.addresses.size() == usual) continue;
      TableFinding& finding =
          reading.findings.add(Rule::kInstanceCounts, reading.place(level.node, "rank_addr_list"));
      finding.found = fmt::format("{} addresses", level.addresses.size());
      finding.expected = fmt::format("{} as the other ranks of \"{}\" have", usual, level.instance);
      finding.related.push_back(
          reading.findings.place(reading.place(first->second->node, "rank_addr_list")));
    }
  }
}

void check_shared(Reading& reading) {
  std::unordered_map<std::string_view, std::pair<const Rank*, Node>> owner;
  for (const Rank& rank : reading.cluster.ranks) {
    for (const Level& level : rank.levels) {
      for (const NetAddress& address : level.addresses) {
        if (address.address.empty() || is_placeholder(address.address)) continue;
        const Node node = reading.place(address.node, "addr");
        const auto [first, is_new] = owner.emplace(address.address, std::pair(&rank, node));
        if (is_new || first->second.first == &rank) continue;
        TableFinding& finding =
            reading.findings.add_value(Rule::kAddressShared, node, "an address of its own");
        finding.related.push_back(reading.findings.place(first->second.second));
      }
    }
  }
}

}  // namespace

void check_levels(Reading& reading) {
  if (reading.cluster.form != Form::kV20) return;
  check_spare(reading);
  check_instances(reading);
  check_shared(reading);
}

}  // namespace commrig::topo
