// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/ip.h"

namespace commrig::topo {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string_view address_key(Form form) {
  return form == Form::kV11 ? "rank_ip" : "device_ip";
}

// Whether devices need an address.
bool needed(const Reading& reading) {
  const Cluster& cluster = reading.cluster;
  const CheckOptions& options = reading.options;
  // The readers of these two ask for the key, perhaps empty, or have the node's address.
  if (cluster.form == Form::kCloud || cluster.form == Form::kV11) return false;
  if (options.intra_roce) return true;
  const bool in_pods =
      cluster.form == Form::kV12 && cluster.has_pod_list && options.chip != Chip::kA2;
  if (in_pods) return cluster.pods.size() > 1 || !options.inter_hccs;
  return cluster.servers.size() > 1;
}

class Addresses {
 public:
  explicit Addresses(Reading& reading)
      : reading_(reading),
        key_(address_key(reading.cluster.form)),
        needed_(needed(reading)),
        several_servers_(reading.cluster.servers.size() > 1) {
    seen_.reserve(reading.cluster.ranks.size());
  }

  void check() {
    for (const Rank& rank : reading_.cluster.ranks) {
      const Node node = reading_.document.member(rank.device_node, key_);
      if (rank.device_ip.empty()) {
        if (needed_) missing(rank, node);
        continue;
      }
      if (node == kNoNode || !reading_.document.is(node, JsonKind::kString)) continue;
      const std::vector<std::string_view> parts = split(rank.device_ip);
      check_number(node, parts.size());
      for (const std::string_view part : parts) one(part, node);
    }
  }

 private:
  void missing(const Rank& rank, Node node) {
    TableFinding& finding = node == kNoNode
                                ? reading_.findings.add(Rule::kAddressMissing, rank.device_node)
                                : reading_.findings.add_value(Rule::kAddressMissing, node, "");
    finding.expected = "an address, because the devices are on several servers";
    if (reading_.cluster.form == Form::kV12 && reading_.cluster.has_pod_list) {
      finding.expected = "an address, because devices reach others outside their super pod";
    } else if (!several_servers_) {
      finding.expected = "an address, because RoCE is used inside the server";
    }
    finding.variable = "device_ip";
  }

  void check_number(Node node, std::size_t parts) {
    if (parts > 1 && count_ <= 1) reading_.findings.add_value(Rule::kSeveralAddresses, node, "");
    if (count_ == 0) {
      count_ = parts;
      return;
    }
    if (parts == count_) return;
    reading_.findings.add_value(Rule::kAddressCount, node, fmt::format("{} as before", count_));
  }

  void one(std::string_view text, Node node) {
    if (is_placeholder(text)) {
      reading_.findings.add_value(Rule::kPlaceholder, node, "the address of the device").variable =
          "IP";
      return;
    }
    const auto ip = parse_ip(text);
    if (!ip) {
      reading_.findings.add_value(Rule::kNoAddress, node, "an IPv4 or IPv6 address").variable =
          "IP";
      return;
    }
    if (text.find('%') != std::string_view::npos) {
      reading_.findings.add_value(Rule::kUndocumented, node, "an address without a zone");
    }
    check_family(*ip, node);
    // Addresses of ranks that are processes of one node may be those of the node.
    if (reading_.cluster.form == Form::kV11) return;
    const auto [first, is_new] = seen_.emplace(text, node);
    if (is_new) return;
    TableFinding& finding =
        reading_.findings.add_value(Rule::kAddressTwice, node, "an address of its own");
    finding.related.push_back(reading_.findings.place(first->second));
  }

  // The first address decides; one finding is enough.
  void check_family(const Ip& ip, Node node) {
    if (first_ == kNoNode) {
      first_ = node;
      is_v6_ = ip.is_v6;
    } else if (ip.is_v6 != is_v6_ && several_servers_ && !mixed_) {
      mixed_ = true;
      TableFinding& finding =
          reading_.findings.add_value(Rule::kFamilies, node, is_v6_ ? "IPv6" : "IPv4");
      finding.related.push_back(reading_.findings.place(first_));
    }
  }

  Reading& reading_;
  std::string_view key_;
  bool needed_;
  bool several_servers_;
  std::size_t count_ = 0;
  Node first_ = kNoNode;
  bool is_v6_ = false;
  bool mixed_ = false;
  std::unordered_map<std::string_view, Node> seen_;
};

}  // namespace

void check_addresses(Reading& reading) {
  if (reading.cluster.form == Form::kV20) return;
  Addresses(reading).check();
}

}  // namespace commrig::topo
