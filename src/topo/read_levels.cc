// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "topo/ip.h"
#include "topo/readers.h"

namespace commrig::topo {
namespace {

using enum Need;

constexpr std::array kRootKeys{
    Key{"version", kRequired},
    Key{"status"},
    Key{"rank_count", kRequired, Type::kInteger},
    Key{"detour"},
    Key{"rank_list", kRequired, Type::kList},
};
constexpr std::array kRankKeys{
    Key{"rank_id", kRequired, Type::kInteger},
    Key{"local_id", kRequired, Type::kInteger},
    Key{"device_id", kRequired, Type::kInteger},
    Key{"level_list", kRequired, Type::kList},
    Key{"replaced_local_id", kOptional, Type::kInteger},
    Key{"device_port", kOptional, Type::kInteger},
    Key{"host_port", kOptional, Type::kInteger},
    Key{"control_plane", kOptional, Type::kObject},
};
constexpr std::array kLevelKeys{
    Key{"net_layer", kRequired, Type::kInteger},
    Key{"net_instance_id", kRequired},
    Key{"net_type", kAdvised},
    Key{"net_attr"},
    Key{"rank_addr_list", kRequired, Type::kAny},  // may be empty
};
constexpr std::array kAddressKeys{
    Key{"addr_type", kRequired},
    Key{"addr", kRequired},
    Key{"backup_addr", kOptional, Type::kAny},
    Key{"ports", kRequired, Type::kList},
    Key{"plane_id"},
};
constexpr std::array kControlKeys{
    Key{"addr_type", kRequired},
    Key{"addr", kRequired},
    Key{"listen_port", kRequired, Type::kInteger},
};

struct NetType {
  std::string_view name;
  bool documented;
};
constexpr std::array kNetTypes{NetType{"TOPO_FILE_DESC", true}, NetType{"CLOS", true},
                               NetType{"1DMESH", false},        NetType{"2DMESH", false},
                               NetType{"A3_SERVER", false},     NetType{"A2_AX_SERVER", false}};
constexpr std::array<std::string_view, 3> kAddrTypes{"EID", "IPV4", "IPV6"};

constexpr std::size_t kLevelsMax = 8;
constexpr std::size_t kAddressesMax = 24;
constexpr std::size_t kBackupsMax = 16;
constexpr std::size_t kPortsMax = 16;
constexpr std::size_t kPortBytesMax = 32;
constexpr std::size_t kNameBytesMax = 1024;
constexpr std::size_t kRanksMax = 65536;

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// An integer from 0 to `most`, or nothing.
std::optional<int> number(const Reading& reading, Node node, std::uint32_t most) {
  const auto value = decimal(reading.text(node));
  if (!value || *value > most) return {};
  return static_cast<int>(*value);
}

std::string read_addr_type(Reading& reading, Node node) {
  const std::string_view type = reading.text(node);
  if (node == kNoNode || std::ranges::count(kAddrTypes, type) != 0) return std::string(type);
  TableFinding& finding =
      reading.findings.add_value(Rule::kAddrType, node, "\"EID\", \"IPV4\" or \"IPV6\"");
  std::string upper = upper_case(type);
  if (std::ranges::count(kAddrTypes, upper) == 0) return {};
  finding.edit = Edit{reading.document.span(node), '"' + upper + '"'};
  return upper;
}

bool is_eid(std::string_view text) {
  return text.size() == 32 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// An address of the type that is said to be one.
void check_address(Reading& reading, std::string_view type, Node node) {
  const std::string_view text = reading.text(node);
  if (node == kNoNode || type.empty()) return;
  if (is_placeholder(text)) {
    reading.findings.add_value(Rule::kPlaceholder, node, "the address of the device");
  } else if (type == "EID") {
    if (is_eid(text)) return;
    reading.findings.add_value(Rule::kEid, node, "32 hexadecimal digits").detail =
        fmt::format("it has {} characters", text.size());
  } else {
    const auto ip = parse_ip(text);
    if (ip && ip->is_v6 == (type == "IPV6")) return;
    reading.findings.add_value(Rule::kEid, node, fmt::format("an address of {}", type));
  }
}

bool is_port_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (text == "d2h") return true;
  return slash != std::string_view::npos && decimal(text.substr(0, slash)) &&
         decimal(text.substr(slash + 1));
}

std::vector<std::string> read_ports(Reading& reading, Node list) {
  std::vector<std::string> ports;
  if (list == kNoNode) return ports;
  if (reading.document.size(list) > kPortsMax) {
    reading.findings.add_value(Rule::kPorts, list, fmt::format("at most {} ports", kPortsMax));
  }
  for_each_element(reading.document, list, [&](Node node) {
    const std::string_view text = reading.text(node);
    const bool is_text = reading.document.is(node, JsonKind::kString);
    if (!is_text || text.empty() || text.size() > kPortBytesMax) {
      reading.findings.add_value(Rule::kPorts, node, "a text of 1 to 32 characters");
    } else if (std::ranges::count(ports, text) != 0) {
      reading.findings.add_value(Rule::kPorts, node, "each port once");
    } else if (!is_port_name(text)) {
      TableFinding& finding =
          reading.findings.add_value(Rule::kPorts, node, "\"die/port\" or \"d2h\"");
      finding.severity = Severity::kWarning;
      finding.accepted = true;
    }
    if (ports.size() < kPortsMax) ports.emplace_back(text);
  });
  return ports;
}

void read_backups(Reading& reading, const Fields& fields, NetAddress& address) {
  const Node list = fields.node("backup_addr");
  if (list == kNoNode) return;
  if (!reading.document.is(list, JsonKind::kArray)) {
    reading.findings.add_value(Rule::kWrongType, list, "a list of strings");
    return;
  }
  if (reading.document.size(list) > kBackupsMax) {
    reading.findings.add_value(Rule::kListLimit, list,
                               fmt::format("at most {} addresses", kBackupsMax));
  }
  if (address.type == "EID" && reading.document.size(list) != 0) {
    reading.findings.add_value(Rule::kEid, list, "backup addresses with IPV4 and IPV6 only");
    return;
  }
  for_each_element(reading.document, list, [&](Node node) {
    check_address(reading, address.type, node);
    if (address.backups.size() < kBackupsMax) address.backups.emplace_back(reading.text(node));
  });
}

NetAddress read_address(Reading& reading, Node node) {
  const Fields fields(reading, node, kAddressKeys);
  NetAddress address;
  address.node = node;
  address.type = read_addr_type(reading, fields.node("addr_type"));
  address.address = fields.text("addr");
  check_address(reading, address.type, fields.node("addr"));
  read_backups(reading, fields, address);
  address.ports = read_ports(reading, fields.node("ports"));
  address.plane = fields.text("plane_id");
  if (address.plane.size() > kNameBytesMax) {
    reading.findings.add_value(Rule::kListLimit, fields.node("plane_id"), "1024 characters");
  }
  return address;
}

void check_net_type(Reading& reading, Node node, int layer) {
  if (node == kNoNode) return;
  const auto* const row = std::ranges::find(kNetTypes, reading.text(node), &NetType::name);
  const std::string_view expected =
      layer == 0 ? "\"TOPO_FILE_DESC\"" : "\"TOPO_FILE_DESC\" or \"CLOS\"";
  const bool known = row != kNetTypes.end();
  if (known && row->documented && (layer != 0 || row->name == "TOPO_FILE_DESC")) return;
  TableFinding& finding = reading.findings.add_value(Rule::kNetType, node, std::string(expected));
  if (!known) return;
  finding.severity = Severity::kWarning;
  finding.accepted = true;
  finding.detail = "no document allows it on this layer";
}

Level read_level(Reading& reading, Node node, int before) {
  const Fields fields(reading, node, kLevelKeys);
  Level level;
  level.node = node;
  const Node layer = fields.node("net_layer");
  level.layer = number(reading, layer, 7).value_or(-1);
  if (layer != kNoNode && (level.layer < 0 || level.layer <= before)) {
    reading.findings.add_value(Rule::kLayer, layer,
                               before < 0 ? "0 to 7" : fmt::format("{} to 7", before + 1));
  }
  level.instance = fields.text("net_instance_id");
  if (fields.has("net_instance_id") &&
      (level.instance.empty() || level.instance.size() > kNameBytesMax)) {
    reading.findings.add_value(Rule::kListLimit, fields.node("net_instance_id"),
                               "1 to 1024 characters");
  }
  level.type = fields.text("net_type");
  check_net_type(reading, fields.node("net_type"), level.layer);
  const Node list = fields.node("rank_addr_list");
  if (list == kNoNode) return level;
  if (!reading.document.is(list, JsonKind::kArray)) {
    reading.findings.add_value(Rule::kWrongType, list, "a list");
    return level;
  }
  if (reading.document.size(list) > kAddressesMax) {
    reading.findings.add_value(Rule::kListLimit, list,
                               fmt::format("at most {} addresses", kAddressesMax));
  }
  for_each_element(reading.document, list,
                   [&](Node each) { level.addresses.push_back(read_address(reading, each)); });
  return level;
}

void read_control_plane(Reading& reading, Node node) {
  if (node == kNoNode) return;
  const Fields fields(reading, node, kControlKeys);
  check_address(reading, read_addr_type(reading, fields.node("addr_type")), fields.node("addr"));
  (void)read_port(reading, fields, "listen_port");
}

void read_local_ids(Reading& reading, const Fields& fields, Rank& rank) {
  const Node local = fields.node("local_id");
  rank.local_id = number(reading, local, 64).value_or(-1);
  if (local != kNoNode && rank.local_id < 0) {
    reading.findings.add_value(Rule::kLocalId, local, "0 to 64");
  }
  const Node replaced = fields.node("replaced_local_id");
  if (rank.local_id == 64 && replaced == kNoNode) {
    TableFinding& finding = reading.findings.add(Rule::kMissingKey, fields.object());
    finding.variable = "replaced_local_id";
    finding.expected = "\"replaced_local_id\", because local_id is 64";
  }
  if (replaced == kNoNode) return;
  rank.replaced_id = number(reading, replaced, 63).value_or(-1);
  if (rank.local_id != 64) {
    reading.findings.add_value(Rule::kReplacedId, replaced, "it only where local_id is 64");
  } else if (rank.replaced_id < 0) {
    reading.findings.add_value(Rule::kReplacedId, replaced, "0 to 63");
  }
}

void read_level_list(Reading& reading, Node list, Rank& rank) {
  if (list == kNoNode) return;
  if (reading.document.size(list) > kLevelsMax) {
    reading.findings.add_value(Rule::kListLimit, list,
                               fmt::format("at most {} levels", kLevelsMax));
  }
  int before = -1;
  for_each_element(reading.document, list, [&](Node node) {
    rank.levels.push_back(read_level(reading, node, before));
    before = std::max(before, rank.levels.back().layer);
  });
}

Rank read_one(Reading& reading, Node node) {
  const Fields fields(reading, node, kRankKeys);
  Rank rank;
  rank.node = node;
  rank.device_node = node;
  rank.id = read_rank(reading, fields, "rank_id");
  const Node device = fields.node("device_id");
  rank.device = number(reading, device, 64).value_or(-1);
  if (device != kNoNode && rank.device < 0) {
    reading.findings.add_value(Rule::kDeviceId, device, "0 to 64");
  }
  read_local_ids(reading, fields, rank);
  rank.device_port = read_port(reading, fields, "device_port");
  rank.host_port = read_port(reading, fields, "host_port");
  read_control_plane(reading, fields.node("control_plane"));
  read_level_list(reading, fields.node("level_list"), rank);
  return rank;
}

std::string instance_of(const Rank& rank, int layer) {
  const auto level = std::ranges::find(rank.levels, layer, &Level::layer);
  return level == rank.levels.end() ? std::string() : level->instance;
}

// Servers are the instances of layer 0, super pods those of layer 1.
void group_ranks(Cluster& cluster) {
  std::unordered_map<std::string, int> servers;
  std::unordered_map<std::string, int> pods;
  for (std::uint32_t i = 0; i < cluster.ranks.size(); ++i) {
    Rank& rank = cluster.ranks[i];
    const std::string name = instance_of(rank, 0);
    const auto [server, is_new] = servers.emplace(name, static_cast<int>(cluster.servers.size()));
    if (is_new) add_server(cluster, {.node = rank.node, .id = name});
    rank.server = server->second;
    Server& owner = cluster.servers[static_cast<std::size_t>(rank.server)];
    owner.ranks.push_back(i);
    const std::string pod_name = instance_of(rank, 1);
    if (owner.pod >= 0 || pod_name.empty()) continue;
    const auto [pod, pod_is_new] = pods.emplace(pod_name, static_cast<int>(cluster.pods.size()));
    if (pod_is_new) {
      SuperPod added;
      added.node = rank.node;
      added.id = pod_name;
      cluster.pods.push_back(std::move(added));
    }
    owner.pod = pod->second;
    cluster.pods[static_cast<std::size_t>(owner.pod)].servers.push_back(rank.server);
  }
}

// The keys of levels before 2.0 was final.
bool is_draft(const JsonDocument& document, Node list) {
  const Node rank = document.is(list, JsonKind::kArray) ? document.first(list) : kNoNode;
  const Node levels = document.member(rank, "level_list");
  const Node level = document.is(levels, JsonKind::kArray) ? document.first(levels) : kNoNode;
  return document.member(level, "fabric_type") != kNoNode ||
         document.member(level, "rank_addrs") != kNoNode ||
         document.member(document.root(), "replace_list") != kNoNode;
}

}  // namespace

void read_levels(Reading& reading) {
  const JsonDocument& document = reading.document;
  const Node root = document.root();
  if (is_draft(document, document.member(root, "rank_list"))) {
    reading.findings.add_value(Rule::kDraft, reading.place(root, "rank_count"),
                               "the keys of version 2.0");
    return;
  }
  const Fields fields(reading, root, kRootKeys);
  const std::string_view detour = fields.text("detour");
  if (!detour.empty() && detour != "true" && detour != "false") {
    reading.findings.add_value(Rule::kDetour, fields.node("detour"), "\"true\" or \"false\"");
  }
  const Node list = fields.node("rank_list");
  if (list == kNoNode) return;
  const std::size_t size = document.size(list);
  check_count(reading, fields, "rank_count", size, "ranks listed");
  if (size > kRanksMax) {
    reading.findings.add_value(Rule::kCount, fields.node("rank_count"), "at most 65536");
  }
  for (Node node = document.first(list); node != kNoNode; node = document.next(node)) {
    if (document.elided(node) && document.size(node) == 0) continue;
    reading.cluster.ranks.push_back(read_one(reading, node));
  }
  group_ranks(reading.cluster);
}

}  // namespace commrig::topo
