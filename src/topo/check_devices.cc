// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "topo/checks.h"

namespace commrig::topo {
namespace {

// Rings 0 to 3 and 4 to 7, and pairs of both that are linked.
constexpr std::array<std::string_view, 8> kSetsOf910{"0123", "4567", "0145", "0246",
                                                     "0347", "1256", "1357", "2367"};

Node device_value(const Reading& reading, const Rank& rank) {
  return reading.place(rank.device_node, "device_id");
}

void check_repeated(Reading& reading, const Server& server) {
  constexpr std::size_t kDevicesMax = 65;
  std::array<const Rank*, kDevicesMax> owner{};
  for (const std::uint32_t i : server.ranks) {
    const Rank& rank = reading.cluster.ranks[i];
    if (rank.device < 0) continue;
    const Rank*& first = owner[static_cast<std::size_t>(rank.device)];
    if (first == nullptr) {
      first = &rank;
      continue;
    }
    TableFinding& finding = reading.findings.add_value(
        Rule::kDeviceTwice, device_value(reading, rank), "each device once");
    finding.detail = fmt::format("on server \"{}\"", server.id);
    finding.related.push_back(reading.findings.place(device_value(reading, *first)));
    if (reading.cluster.form == Form::kV20) {
      finding.severity = Severity::kWarning;
      finding.accepted = true;
    }
  }
}

// Chips that want the same number everywhere, by option or by form.
bool is_910(const Reading& reading) {
  if (reading.options.chip != Chip::kAny) return reading.options.chip == Chip::k910;
  const Node chip = reading.document.member(reading.document.root(), "chip_info");
  return reading.cluster.form == Form::kCloud ||
         (reading.cluster.form == Form::kLab && reading.text(chip) == "910");
}

void check_set(Reading& reading, const Server& server) {
  if (server.ranks.size() != 4) return;
  std::string devices;
  for (const std::uint32_t i : server.ranks) {
    const int device = reading.cluster.ranks[i].device;
    if (device < 0 || device > 7) return;
    devices += static_cast<char>('0' + device);
  }
  std::ranges::sort(devices);
  if (std::ranges::adjacent_find(devices) != devices.end()) return;
  if (std::ranges::count(kSetsOf910, devices) != 0) return;
  const Rank& first = reading.cluster.ranks[server.ranks.front()];
  TableFinding& finding = reading.findings.add(Rule::kDeviceSet, device_value(reading, first));
  finding.found = devices;
  finding.expected = fmt::format("one of {}", fmt::join(kSetsOf910, " "));
  finding.detail = fmt::format("on server \"{}\"", server.id);
}

void check_even(Reading& reading) {
  const auto& servers = reading.cluster.servers;
  if (servers.size() < 2 || reading.elided || reading.cluster.form == Form::kV11 ||
      reading.cluster.form == Form::kV20) {
    return;
  }
  std::map<std::size_t, std::size_t> sizes;
  for (const Server& server : servers) {
    if (!server.ranks.empty()) ++sizes[server.ranks.size()];
  }
  if (sizes.size() < 2) return;
  // The most frequent; of equally frequent ones the largest, since devices are rather missing.
  std::size_t usual = 0;
  for (const auto& [size, count] : sizes) {
    if (usual == 0 || count >= sizes[usual]) usual = size;
  }
  const bool refused = is_910(reading) || reading.options.chip == Chip::k310P;
  for (const Server& server : servers) {
    if (server.ranks.empty() || server.ranks.size() == usual) continue;
    TableFinding& finding =
        reading.findings.add(Rule::kUneven, reading.place(server.node, "server_id"));
    finding.severity = refused ? Severity::kError : Severity::kWarning;
    finding.accepted = !refused && reading.options.chip != Chip::kAny;
    finding.found = fmt::format("{} devices", server.ranks.size());
    finding.expected = fmt::format("{} as on other servers", usual);
  }
}

}  // namespace

void check_devices(Reading& reading) {
  const bool sets = is_910(reading) && !reading.elided;
  for (const Server& server : reading.cluster.servers) {
    check_repeated(reading, server);
    if (sets) check_set(reading, server);
  }
  check_even(reading);
}

}  // namespace commrig::topo
