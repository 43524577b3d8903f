// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/ip.h"
#include "topo/super_device.h"

namespace commrig::topo {
namespace {

std::string_view key_of(Form form) {
  return form == Form::kV11 ? "sdid" : "super_device_id";
}

Node super_device_value(const Reading& reading, const Rank& rank) {
  return reading.place(rank.node, key_of(reading.cluster.form));
}

void check_pod_names(Reading& reading) {
  std::unordered_map<std::string_view, Node> names;
  for (const SuperPod& pod : reading.cluster.pods) {
    const Node node = reading.place(pod.node, "super_pod_id");
    if (pod.id.empty()) continue;
    const auto [first, is_new] = names.emplace(pod.id, node);
    if (is_new) continue;
    TableFinding& finding = reading.findings.add_value(Rule::kNameTwice, node, "a name of its own");
    finding.related.push_back(reading.findings.place(first->second));
  }
}

void check_membership(Reading& reading) {
  for (const Server& server : reading.cluster.servers) {
    if (server.pod < 0 && !reading.elided) {
      TableFinding& finding =
          reading.findings.add_value(Rule::kServerInNoPod, reading.place(server.node, "server_id"),
                                     "a super pod that names it");
      finding.variable = "server_id";
    }
    for (const std::uint32_t i : server.ranks) {
      const Rank& rank = reading.cluster.ranks[i];
      if (reading.document.member(rank.node, "super_device_id") != kNoNode) continue;
      if (reading.document.elided(rank.node)) continue;
      reading.findings.add(Rule::kSuperDeviceMissing, rank.node).expected = "\"super_device_id\"";
    }
  }
}

// Servers of a super pod that others stand between.
void check_pod_order(Reading& reading) {
  std::set<int> ended;
  int current = -1;
  for (const Server& server : reading.cluster.servers) {
    if (server.pod < 0 || server.pod == current) continue;
    if (ended.contains(server.pod)) {
      TableFinding& finding =
          reading.findings.add(Rule::kPodsInterleaved, reading.place(server.node, "server_id"));
      finding.detail = fmt::format("super pod \"{}\"",
                                   reading.cluster.pods[static_cast<std::size_t>(server.pod)].id);
    }
    ended.insert(current);
    current = server.pod;
  }
}

void check_repeated(Reading& reading) {
  std::map<std::pair<int, std::uint32_t>, const Rank*> owner;
  for (const Rank& rank : reading.cluster.ranks) {
    const int pod = reading.cluster.servers[static_cast<std::size_t>(rank.server)].pod;
    if (!rank.super_device || pod < 0) continue;
    const auto [first, is_new] = owner.emplace(std::pair(pod, *rank.super_device), &rank);
    if (is_new) continue;
    TableFinding& finding = reading.findings.add_value(
        Rule::kSuperDeviceTwice, super_device_value(reading, rank), "a number of its own");
    finding.related.push_back(reading.findings.place(super_device_value(reading, *first->second)));
  }
}

void check_decoded(Reading& reading, const Rank& rank) {
  if (rank.device < 0) return;
  const SuperDevice found = decode_super_device(*rank.super_device);
  const SuperDevice expected{found.server, rank.device / 2, rank.device % 2, rank.device};
  if (found == expected) return;
  TableFinding& finding = reading.findings.add_value(
      Rule::kSuperDeviceOther, super_device_value(reading, rank),
      fmt::format("device {}, chip {}, die {}", expected.device, expected.chip, expected.die));
  finding.detail = fmt::format("it means server {}, device {}, chip {}, die {}", found.server,
                               found.device, found.chip, found.die);
  finding.related.push_back(reading.findings.place(reading.place(rank.device_node, "device_id")));
}

// 192.(server).(2 + die).(199 - device). Server 0 would be in the range for documentation.
void check_virtual_nic(Reading& reading, const Rank& rank) {
  const auto ip = parse_ip(rank.device_ip);
  if (!ip || ip->is_v6 || rank.device < 0) return;
  const auto& bytes = ip->bytes;
  if (bytes[0] != 192 || bytes[1] == 0 || bytes[2] < 2 || bytes[2] > 3) return;
  if (bytes[3] < 184 || bytes[3] > 199) return;
  const int device = 199 - bytes[3];
  const int die = bytes[2] - 2;
  const int server = decode_super_device(*rank.super_device).server;
  const bool fits = device == rank.device && die == rank.device % 2 && (server & 0xff) == bytes[1];
  if (fits) return;
  TableFinding& finding = reading.findings.add_value(
      Rule::kVirtualNic, reading.place(rank.device_node, "device_ip"),
      fmt::format("192.{}.{}.{}", server & 0xff, 2 + rank.device % 2, 199 - rank.device));
  finding.detail = fmt::format("it means server {}, die {}, device {}", bytes[1], die, device);
}

// One server number for one server, and for no other of its super pod.
class ServerNumbers {
 public:
  explicit ServerNumbers(Reading& reading) : reading_(reading) {}

  void check(const Server& server) {
    const Rank* first = nullptr;
    for (const std::uint32_t i : server.ranks) {
      const Rank& rank = reading_.cluster.ranks[i];
      if (!rank.super_device || is_small_super_device(*rank.super_device)) continue;
      if (first == nullptr) {
        first = &rank;
        check_first(server, rank);
      } else if (number(rank) != number(*first)) {
        report(rank, *first, "the server number of the other devices here");
      }
    }
  }

 private:
  static int number(const Rank& rank) { return decode_super_device(*rank.super_device).server; }

  void check_first(const Server& server, const Rank& rank) {
    if (server.pod < 0) return;
    const auto [other, is_new] = owner_.emplace(std::pair(server.pod, number(rank)), &rank);
    if (!is_new) report(rank, *other->second, "another server number than that of other servers");
  }
  void report(const Rank& rank, const Rank& other, std::string expected) {
    TableFinding& finding = reading_.findings.add_value(
        Rule::kSuperDeviceServer, super_device_value(reading_, rank), std::move(expected));
    finding.detail =
        fmt::format("it means server {}, the other server {}", number(rank), number(other));
    finding.related.push_back(reading_.findings.place(super_device_value(reading_, other)));
  }

  Reading& reading_;
  std::map<std::pair<int, int>, const Rank*> owner_;
};

void check_numbers(Reading& reading) {
  bool small_seen = false;
  for (const Rank& rank : reading.cluster.ranks) {
    if (!rank.super_device) {
      const Node node = super_device_value(reading, rank);
      if (reading.text(node) != "-2") continue;
      TableFinding& finding =
          reading.findings.add_value(Rule::kPlaceholder, node, "the SDID of the device");
      finding.correction = "Find out what is wrong with the device (npu-smi), and make it anew";
    } else if (!is_small_super_device(*rank.super_device)) {
      check_decoded(reading, rank);
      check_virtual_nic(reading, rank);
    } else if (!small_seen) {
      small_seen = true;
      reading.findings.add_value(Rule::kSuperDeviceSmall, super_device_value(reading, rank),
                                 "a number with the server in bits 22 to 31");
    }
  }
  ServerNumbers numbers(reading);
  for (const Server& server : reading.cluster.servers) numbers.check(server);
}

}  // namespace

void check_pods(Reading& reading) {
  const Form form = reading.cluster.form;
  // An A2 doesn't look at super pods.
  const bool read = form == Form::kV12 && reading.options.chip != Chip::kA2;
  if (!read && form != Form::kV11) return;
  check_numbers(reading);
  if (reading.cluster.pods.empty()) return;
  check_pod_names(reading);
  check_membership(reading);
  check_pod_order(reading);
  check_repeated(reading);
}

}  // namespace commrig::topo
