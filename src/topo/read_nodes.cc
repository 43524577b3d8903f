// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>

#include "topo/readers.h"

namespace commrig::topo {
namespace {

using enum Need;

constexpr std::array kRootKeys{
    Key{"status", kRequired},        Key{"version", kRequired},
    Key{"collective_id", kRequired}, Key{"mode"},
    Key{"heterog_sub_version"},      Key{"node_list", kRequired, Type::kList},
};
constexpr std::array kNodeKeys{Key{"node_addr", kRequired}, Key{"ranks", kRequired, Type::kList}};
constexpr std::array kRankKeys{
    Key{"rank_id", kRequired}, Key{"device_id"}, Key{"port"}, Key{"rank_ip"},
    Key{"bind_device_id"},     Key{"sdid"}};
// The A3 form asks for more.
constexpr std::array kRankKeysA3{Key{"rank_id", kRequired}, Key{"device_id", kRequired},
                                 Key{"port", kRequired},    Key{"rank_ip", kRequired},
                                 Key{"bind_device_id"},     Key{"sdid", kRequired}};

void read_one(Reading& reading, Node node, int server_index, bool a3) {
  const Fields fields(reading, node,
                      a3 ? std::span<const Key>(kRankKeysA3) : std::span<const Key>(kRankKeys));
  if (reading.document.elided(node) && reading.document.size(node) == 0) return;
  Rank rank;
  rank.node = node;
  rank.device_node = node;
  rank.server = server_index;
  rank.id = read_rank(reading, fields, "rank_id");
  const bool on_host = !fields.has("device_id") || fields.text("device_id") == "-1";
  if (!on_host) read_device_id(reading, fields, rank);
  if (on_host && a3 && fields.has("device_id") && !fields.has("bind_device_id")) {
    TableFinding& finding = reading.findings.add(Rule::kMissingKey, node);
    finding.variable = "bind_device_id";
    finding.expected = "\"bind_device_id\", because device_id is -1";
  }
  // 0 stands for a port that HCCL chooses.
  if (fields.text("port") != "0") rank.device_port = read_port(reading, fields, "port");
  rank.device_ip = fields.text("rank_ip");
  if (const Node sdid = fields.node("sdid"); sdid != kNoNode) {
    rank.super_device = read_number(reading, sdid);
    if (!rank.super_device) {
      reading.findings.add_value(Rule::kSuperDevice, sdid, "a decimal number of 32 bits");
    }
  }
  add_rank(reading.cluster, std::move(rank));
}

void read_node(Reading& reading, Node node, bool a3) {
  const Fields fields(reading, node, kNodeKeys);
  if (reading.document.elided(node) && reading.document.size(node) == 0) return;
  Server server;
  server.node = node;
  server.id = fields.text("node_addr");
  const int index = add_server(reading.cluster, std::move(server));
  for_each_element(reading.document, fields.node("ranks"),
                   [&](Node rank) { read_one(reading, rank, index, a3); });
}

}  // namespace

void read_nodes(Reading& reading) {
  const Fields root(reading, reading.document.root(), kRootKeys);
  reading.cluster.collective_id = read_name(reading, root, "collective_id", 1, 127);
  reading.cluster.mode = root.text("mode");
  if (root.has("mode") && reading.cluster.mode != "tcp" && reading.cluster.mode != "rdma") {
    reading.findings.add_value(Rule::kMode, root.node("mode"), "\"tcp\" or \"rdma\"");
  }
  const bool a3 = root.text("heterog_sub_version") == "1.2";
  if (root.has("heterog_sub_version") && !a3) {
    reading.findings.add_value(Rule::kVersion, root.node("heterog_sub_version"), "\"1.2\"");
  }
  for_each_element(reading.document, root.node("node_list"),
                   [&](Node node) { read_node(reading, node, a3); });
}

}  // namespace commrig::topo
