// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/ip.h"

namespace commrig::topo {
namespace {

constexpr int kDevicePort = 16666;
constexpr int kBackupPort = 16667;

class Backups {
 public:
  explicit Backups(Reading& reading) : reading_(reading) {}

  void check() {
    const auto& ranks = reading_.cluster.ranks;
    if (std::ranges::all_of(ranks, [](const Rank& rank) { return rank.backup_ip.empty(); })) return;
    for (const Rank& rank : ranks) owner_.emplace(rank.device_ip, &rank);
    for (const Server& server : reading_.cluster.servers) check_server(server);
  }

 private:
  void check_server(const Server& server) {
    std::unordered_map<int, const Rank*> devices;
    for (const std::uint32_t i : server.ranks) {
      const Rank& rank = reading_.cluster.ranks[i];
      if (rank.device >= 0) devices.emplace(rank.device, &rank);
    }
    for (const std::uint32_t i : server.ranks) {
      const Rank& rank = reading_.cluster.ranks[i];
      if (rank.backup_ip.empty()) continue;
      const auto partner = devices.find(rank.device ^ 1);
      check_rank(rank, partner == devices.end() ? nullptr : partner->second);
    }
  }

  void check_rank(const Rank& rank, const Rank* partner) {
    const Node node = reading_.document.member(rank.node, "backup_device_ip");
    if (!parse_ip(rank.backup_ip)) {
      const bool placeholder = is_placeholder(rank.backup_ip);
      add(placeholder ? Rule::kPlaceholder : Rule::kNoAddress, node, "an IPv4 or IPv6 address")
          .variable = "IP";
      return;
    }
    const auto [first, is_new] = seen_.emplace(rank.backup_ip, node);
    if (!is_new) {
      add(Rule::kBackupTwice, node, "an address of its own")
          .related.push_back(reading_.findings.place(first->second));
    }
    if (rank.device < 0) return;
    check_partner(rank, partner, node);
    check_port(rank, partner);
  }

  void check_partner(const Rank& rank, const Rank* partner, Node node) {
    const auto owner = owner_.find(rank.backup_ip);
    const Rank* const found = owner == owner_.end() ? nullptr : owner->second;
    const bool known = partner != nullptr && !partner->device_ip.empty();
    if (known ? partner->device_ip == rank.backup_ip : found == nullptr) return;
    TableFinding& finding = add(
        Rule::kBackup, node,
        known ? fmt::format("\"{}\", the address of device {}", partner->device_ip, partner->device)
              : fmt::format("the address of device {}", rank.device ^ 1));
    if (found == &rank) {
      finding.detail = "it is the device's own address";
    } else if (found != nullptr) {
      finding.detail = fmt::format("it is the address of rank {}", found->id);
      finding.related.push_back(
          reading_.findings.place(reading_.place(found->device_node, "device_ip")));
    }
  }

  void check_port(const Rank& rank, const Rank* partner) {
    if (partner == nullptr) return;
    const int backup = rank.backup_port != 0 ? rank.backup_port : kBackupPort;
    const int own = partner->device_port != 0 ? partner->device_port : kDevicePort;
    if (backup != own) return;
    TableFinding& finding = add(Rule::kBackupPort, reading_.place(rank.node, "backup_device_port"),
                                fmt::format("another port than {}", own));
    finding.detail = fmt::format("device {} listens there", partner->device);
  }

  // Backup addresses are read only where operations are retried.
  TableFinding& add(Rule rule, Node node, std::string expected) {
    TableFinding& finding = reading_.findings.add_value(rule, node, std::move(expected));
    if (!reading_.options.retry) {
      finding.severity = Severity::kNote;
      finding.accepted = true;
    }
    return finding;
  }

  Reading& reading_;
  std::unordered_map<std::string_view, const Rank*> owner_;  // of each device_ip
  std::unordered_map<std::string_view, Node> seen_;
};

}  // namespace

void check_backups(Reading& reading) {
  if (reading.cluster.form == Form::kV10 || reading.cluster.form == Form::kV12) {
    Backups(reading).check();
  }
}

}  // namespace commrig::topo
