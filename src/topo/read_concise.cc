// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "topo/readers.h"

namespace commrig::topo {
namespace {

using enum Need;

constexpr std::array kRootKeys{
    Key{"status", kRequired},
    Key{"version", kRequired},
    Key{"server_count", kAdvised},
    Key{"server_list", kRequired, Type::kList},
    Key{"super_pod_list", kOptional, Type::kList},
    Key{"IsMindIEEPJob", kIgnored, Type::kAny},
};
constexpr std::array kServerKeys{
    Key{"server_id", kRequired},
    Key{"host_ip"},
    Key{"device", kRequired, Type::kList},
    Key{"host_nic_ip", kIgnored, Type::kAny},
    Key{"container_ip", kIgnored, Type::kAny},
    Key{"pod_ip", kIgnored, Type::kAny},
    Key{"hardware_type", kIgnored, Type::kAny},
    Key{"server_ip", kIgnored, Type::kAny},
    Key{"hostname", kIgnored, Type::kAny},
};
constexpr std::array kDeviceKeys{
    Key{"device_id", kRequired},
    Key{"device_ip"},
    Key{"rank_id", kRequired},
    Key{"device_port"},
    Key{"host_port"},
    Key{"backup_device_ip"},
    Key{"backup_device_port"},
    Key{"super_device_id"},
    Key{"device_vnic_port", kUndocumented},
    Key{"net_position", kUndocumented},
    Key{"net_protocol", kUndocumented},
};
constexpr std::array kPodKeys{
    Key{"super_pod_id"},
    Key{"server_list", kRequired, Type::kList},
};
constexpr std::array kPodServerKeys{Key{"server_id", kRequired}};

void read_super_device(Reading& reading, const Fields& fields, Rank& rank) {
  const Node node = fields.node("super_device_id");
  if (node == kNoNode) return;
  rank.super_device = read_number(reading, node);
  if (rank.super_device || reading.text(node) == "-2") return;  // that one is a placeholder
  reading.findings.add_value(Rule::kSuperDevice, node, "a decimal number of 32 bits");
}

void read_net_position(Reading& reading, const Fields& fields, const Server& server) {
  if (fields.text("net_position") != "host" || !server.host_ip.empty()) return;
  reading.findings.add_value(Rule::kHostNic, fields.node("net_position"), "host_ip in the server");
}

void read_one_device(Reading& reading, Node node, int server_index) {
  const Fields fields(reading, node, kDeviceKeys);
  if (reading.document.elided(node) && reading.document.size(node) == 0) return;
  Rank rank;
  rank.node = node;
  rank.device_node = node;
  rank.server = server_index;
  rank.id = read_rank(reading, fields, "rank_id");
  read_device_id(reading, fields, rank);
  rank.device_ip = fields.text("device_ip");
  rank.device_port = read_port(reading, fields, "device_port");
  rank.host_port = read_port(reading, fields, "host_port");
  rank.backup_port = read_port(reading, fields, "backup_device_port");
  (void)read_port(reading, fields, "device_vnic_port");
  rank.backup_ip = fields.text("backup_device_ip");
  read_super_device(reading, fields, rank);
  read_net_position(reading, fields,
                    reading.cluster.servers[static_cast<std::size_t>(server_index)]);
  add_rank(reading.cluster, std::move(rank));
}

void read_server(Reading& reading, Node node) {
  const Fields fields(reading, node, kServerKeys);
  if (reading.document.elided(node) && reading.document.size(node) == 0) return;
  Server server;
  server.node = node;
  server.id = read_name(reading, fields, "server_id", 1, 64);
  server.host_ip = fields.text("host_ip");
  server.container_ip = fields.text("container_ip");
  server.hardware_type = fields.text("hardware_type");
  const int index = add_server(reading.cluster, std::move(server));
  for_each_element(reading.document, fields.node("device"),
                   [&](Node device) { read_one_device(reading, device, index); });
}

using ServersByName = std::unordered_map<std::string_view, int>;

// One server of a super pod.
void read_member(Reading& reading, Node node, const ServersByName& servers, int pod_index) {
  const Fields fields(reading, node, kPodServerKeys);
  const Node name = fields.node("server_id");
  if (name == kNoNode) return;
  const auto known = servers.find(reading.text(name));
  if (known == servers.end()) {
    if (reading.elided) return;
    TableFinding& finding =
        reading.findings.add_value(Rule::kPodServerUnknown, name, "a server of server_list");
    if (servers.size() == 1)
      finding.detail = fmt::format("there is \"{}\"", servers.begin()->first);
    return;
  }
  Server& server = reading.cluster.servers[static_cast<std::size_t>(known->second)];
  if (server.pod >= 0) {
    TableFinding& finding =
        reading.findings.add_value(Rule::kServerInTwoPods, name, "each server once");
    finding.detail = fmt::format("it is in super pod \"{}\" already",
                                 reading.cluster.pods[static_cast<std::size_t>(server.pod)].id);
    return;
  }
  server.pod = pod_index;
  reading.cluster.pods[static_cast<std::size_t>(pod_index)].servers.push_back(known->second);
}

void read_pod(Reading& reading, Node node, const ServersByName& servers) {
  const Fields fields(reading, node, kPodKeys);
  if (reading.document.elided(node) && reading.document.size(node) == 0) return;
  SuperPod pod;
  pod.node = node;
  const Node id = fields.node("super_pod_id");
  pod.id = fields.text("super_pod_id");
  if (id == kNoNode) {
    reading.findings.add(Rule::kSuperPodId, node).expected = "\"super_pod_id\"";
  } else if (pod.id.empty() || pod.id.size() > 127) {
    reading.findings.add_value(Rule::kSuperPodId, id, "1 to 127 characters");
  }
  const int index = static_cast<int>(reading.cluster.pods.size());
  reading.cluster.pods.push_back(std::move(pod));
  for_each_element(reading.document, fields.node("server_list"),
                   [&](Node server) { read_member(reading, server, servers, index); });
}

void read_pods(Reading& reading, const Fields& root) {
  if (reading.cluster.form != Form::kV12) return;
  const Node list = root.node("super_pod_list");
  reading.cluster.has_pod_list =
      reading.document.member(reading.document.root(), "super_pod_list") != kNoNode;
  if (list == kNoNode) return;
  ServersByName servers;
  for (std::size_t i = 0; i < reading.cluster.servers.size(); ++i) {
    servers.emplace(reading.cluster.servers[i].id, static_cast<int>(i));
  }
  for_each_element(reading.document, list, [&](Node pod) { read_pod(reading, pod, servers); });
}

}  // namespace

std::uint32_t device_most(Form form, Chip chip) {
  switch (chip) {
    case Chip::k910:
      return 7;
    case Chip::k310P:
      return 31;
    case Chip::kA2:
    case Chip::kA3:
      return 15;
    case Chip::k950:
      return 64;
    case Chip::kAny:
      break;
  }
  switch (form) {
    case Form::kCloud:
      return 7;
    case Form::kV11:
    case Form::kV12:
      return 15;
    case Form::kV20:
      return 64;
    default:
      return 31;
  }
}

void read_device_id(Reading& reading, const Fields& fields, Rank& rank) {
  const Node node = fields.node("device_id");
  if (node == kNoNode) return;
  const auto device = read_number(reading, node);
  const std::uint32_t most = device_most(reading.cluster.form, reading.options.chip);
  if (device && *device <= most) {
    rank.device = static_cast<int>(*device);
  } else {
    reading.findings.add_value(Rule::kDeviceId, node, fmt::format("0 to {}", most));
  }
}

void read_concise(Reading& reading) {
  const Fields root(reading, reading.document.root(), kRootKeys);
  const Node list = root.node("server_list");
  for_each_element(reading.document, list, [&](Node server) { read_server(reading, server); });
  if (list != kNoNode) {
    check_count(reading, root, "server_count", reading.document.size(list), "servers listed");
  }
  read_pods(reading, root);
}

}  // namespace commrig::topo
