// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "topo/checks.h"
#include "topo/ip.h"

namespace commrig::topo {
namespace {

std::string_view name_key(const Reading& reading) {
  return reading.cluster.form == Form::kV11 ? "node_addr" : "server_id";
}

void check_name(Reading& reading, const Server& server) {
  const Node node = reading.place(server.node, name_key(reading));
  const auto ip = parse_ip(server.id);
  if (is_placeholder(server.container_ip)) {
    TableFinding& finding = reading.findings.add_value(
        Rule::kPlaceholder, reading.document.member(server.node, "container_ip"),
        "the address of the pod");
    finding.severity = Severity::kWarning;
    finding.accepted = true;
    finding.detail = "HCCL does not read it, MindIE finds its own server by it";
    finding.correction = "Write the address of the pod, or leave the key out";
  }
  if (ip && is_loopback(*ip)) {
    reading.findings.add_value(Rule::kLoopback, node, "a name or an address that others know");
  }
  if (is_placeholder(server.id)) {
    TableFinding& finding =
        reading.findings.add_value(Rule::kPlaceholder, node, "the server's name");
    finding.correction = "Write the name or the address of the server";
    if (reading.cluster.form == Form::kV11) return;
    finding.severity = Severity::kWarning;
    finding.accepted = true;
  } else if (reading.cluster.form == Form::kV11 && !ip) {
    reading.findings.add_value(Rule::kNoAddress, node, "an IPv4 or IPv6 address");
  }
}

// Whether all host addresses are of one family, and no two servers have the same.
class HostAddresses {
 public:
  explicit HostAddresses(Reading& reading) : reading_(reading) {}

  void add(const Server& server) {
    const Node node = reading_.document.member(server.node, "host_ip");
    if (node == kNoNode || !reading_.document.is(node, JsonKind::kString)) return;
    const auto ip = parse_ip(server.host_ip);
    if (!ip) {
      const bool placeholder = is_placeholder(server.host_ip);
      reading_.findings
          .add_value(placeholder ? Rule::kPlaceholder : Rule::kNoAddress, node,
                     "an IPv4 or IPv6 address")
          .variable = "IP";
      return;
    }
    if (first_ == kNoNode) {
      first_ = node;
      is_v6_ = ip->is_v6;
    } else if (ip->is_v6 != is_v6_) {
      TableFinding& finding =
          reading_.findings.add_value(Rule::kHostFamilies, node, is_v6_ ? "IPv6" : "IPv4");
      finding.related.push_back(reading_.findings.place(first_));
    }
    const auto [other, is_new] = seen_.emplace(server.host_ip, node);
    if (is_new) return;
    TableFinding& finding =
        reading_.findings.add_value(Rule::kSharedHost, node, "one server_id for one host");
    finding.related.push_back(reading_.findings.place(other->second));
  }

 private:
  Reading& reading_;
  Node first_ = kNoNode;
  bool is_v6_ = false;
  std::unordered_map<std::string_view, Node> seen_;
};

void check_host_ports(Reading& reading, const Server& server) {
  std::unordered_map<int, Node> ports;
  for (const std::uint32_t i : server.ranks) {
    const Rank& rank = reading.cluster.ranks[i];
    if (rank.host_port == 0) continue;
    const Node node = reading.place(rank.node, "host_port");
    const auto [first, is_new] = ports.emplace(rank.host_port, node);
    if (is_new) continue;
    TableFinding& finding = reading.findings.add_value(Rule::kPortTwice, node, "a port of its own");
    finding.related.push_back(reading.findings.place(first->second));
  }
}

}  // namespace

void check_servers(Reading& reading) {
  const Cluster& cluster = reading.cluster;
  const bool unique_names =
      cluster.form == Form::kV10 || cluster.form == Form::kV11 || cluster.form == Form::kV12;
  std::unordered_map<std::string_view, const Server*> names;
  HostAddresses hosts(reading);
  for (const Server& server : cluster.servers) {
    check_host_ports(reading, server);
    if (cluster.form == Form::kV20) continue;
    check_name(reading, server);
    hosts.add(server);
    const auto [first, is_new] = names.emplace(server.id, &server);
    if (is_new || !unique_names || server.id.empty() || is_placeholder(server.id)) continue;
    TableFinding& finding = reading.findings.add_value(
        Rule::kServerTwice, reading.place(server.node, name_key(reading)), "each server once");
    finding.related.push_back(
        reading.findings.place(reading.place(first->second->node, name_key(reading))));
  }
}

}  // namespace commrig::topo
