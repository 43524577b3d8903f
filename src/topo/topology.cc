// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/topology.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "topo/form.h"
#include "topo/syntax.h"

namespace commrig::topo {
namespace {

using enum Need;

constexpr std::array kRootKeys{
    Key{"version", kRequired},
    Key{"peer_count", kRequired, Type::kInteger},
    Key{"peer_list", kRequired, Type::kList},
    Key{"edge_count", kRequired, Type::kInteger},
    Key{"edge_list", kRequired, Type::kList},
};
constexpr std::array kPeerKeys{Key{"local_id", kRequired, Type::kInteger}};
constexpr std::array kEdgeKeys{
    Key{"net_layer", kRequired, Type::kInteger},
    Key{"link_type", kRequired},
    Key{"protocols", kRequired, Type::kList},
    Key{"local_a", kRequired, Type::kInteger},
    Key{"local_a_ports", kRequired, Type::kList},
    Key{"local_b", kOptional, Type::kInteger},
    Key{"local_b_ports", kOptional, Type::kList},
    Key{"topo_instance_id", kOptional, Type::kAny},
    Key{"topo_type"},
    Key{"position"},
};
constexpr std::array<std::string_view, 7> kProtocols{"UB_CTP", "UB_TP", "UB_MEM", "UBOE",
                                                     "ROCE",   "HCCS",  "TCP"};
constexpr std::size_t kPeersMax = 65;
constexpr std::size_t kBytesMax = std::size_t{512} << 10;

class TopologyReader {
 public:
  TopologyReader(Reading& reading, Topology& topology)
      : reading_(reading), document_(reading.document), topology_(topology) {}

  void read() {
    const Fields root(reading_, document_.root(), kRootKeys);
    if (root.has("version") && root.text("version") != "2.0") {
      reading_.findings.add_value(Rule::kVersion, root.node("version"), "\"2.0\"");
    }
    if (const Node list = root.node("peer_list"); list != kNoNode) {
      for (Node node = document_.first(list); node != kNoNode; node = document_.next(node)) {
        peer(node);
      }
      count(root, "peer_count", document_.size(list), Rule::kTopologyPeer);
      if (document_.size(list) > kPeersMax) {
        reading_.findings.add_value(Rule::kTopologyPeer, list, "at most 65 peers");
      }
    }
    if (const Node list = root.node("edge_list"); list != kNoNode) {
      for (Node node = document_.first(list); node != kNoNode; node = document_.next(node)) {
        edge(node);
      }
      count(root, "edge_count", document_.size(list), Rule::kTopologyEdge);
    }
  }

 private:
  void count(const Fields& root, std::string_view key, std::size_t size, Rule rule) {
    const Node node = root.node(key);
    if (node == kNoNode || decimal(reading_.text(node)) == size) return;
    reading_.findings.add_value(rule, node, fmt::format("{}, the length of the list", size));
  }

  void peer(Node node) {
    const Fields fields(reading_, node, kPeerKeys);
    const Node id = fields.node("local_id");
    if (id == kNoNode) return;
    const auto number = decimal(reading_.text(id));
    if (!number || *number > 64) {
      reading_.findings.add_value(Rule::kTopologyPeer, id, "0 to 64");
    } else if (!topology_.peers.insert(static_cast<int>(*number)).second) {
      reading_.findings.add_value(Rule::kTopologyPeer, id, "each peer once");
    }
  }

  void bad(Node node, std::string expected) {
    reading_.findings.add_value(Rule::kTopologyEdge, node, std::move(expected));
  }

  void one_of(const Fields& fields, std::string_view key,
              std::initializer_list<std::string_view> known) {
    if (!fields.has(key) || std::ranges::find(known, fields.text(key)) != known.end()) return;
    bad(fields.node(key), fmt::format("{}", fmt::join(known, " or ")));
  }

  void edge(Node node) {
    const Fields fields(reading_, node, kEdgeKeys);
    const auto layer = decimal(fields.text("net_layer"));
    if (fields.has("net_layer") && (!layer || *layer > 7)) bad(fields.node("net_layer"), "0 to 7");
    one_of(fields, "link_type", {"PEER2PEER", "PEER2NET"});
    one_of(fields, "topo_type", {"CLOS", "1DMESH"});
    one_of(fields, "position", {"HOST", "DEVICE"});
    if (const Node list = fields.node("protocols"); list != kNoNode) {
      for (Node each = document_.first(list); each != kNoNode; each = document_.next(each)) {
        if (std::ranges::count(kProtocols, reading_.text(each)) != 0) continue;
        bad(each, fmt::format("{}", fmt::join(kProtocols, ", ")));
      }
    }
    end(fields, layer.value_or(0), "local_a", "local_a_ports");
    if (fields.text("link_type") == "PEER2PEER" && !fields.has("local_b")) {
      TableFinding& finding = reading_.findings.add(Rule::kMissingKey, node);
      finding.variable = "local_b";
      finding.expected = "\"local_b\", because the link has two peers";
    }
    end(fields, layer.value_or(0), "local_b", "local_b_ports");
  }

  void end(const Fields& fields, std::uint32_t layer, std::string_view id_key,
           std::string_view ports_key) {
    if (!fields.has(id_key)) return;
    const auto id = decimal(fields.text(id_key));
    if (!id || !topology_.peers.contains(static_cast<int>(*id))) {
      bad(fields.node(id_key), "a local_id of peer_list");
      return;
    }
    const Node list = fields.node(ports_key);
    if (list == kNoNode) return;
    auto& ports = topology_.ports[{static_cast<int>(layer), static_cast<int>(*id)}];
    for (Node each = document_.first(list); each != kNoNode; each = document_.next(each)) {
      if (document_.is(each, JsonKind::kString) && !document_.text(each).empty()) {
        ports.emplace(document_.text(each));
      } else {
        bad(each, "a port as text");
      }
    }
  }

  Reading& reading_;
  const JsonDocument& document_;
  Topology& topology_;
};

void check_ports(const Topology& topology, const Rank& rank, const Level& level,
                 const JsonDocument& document, Findings& findings) {
  const auto known = topology.ports.find({level.layer, rank.local_id});
  if (known == topology.ports.end()) return;
  for (const NetAddress& address : level.addresses) {
    const Node list = document.member(address.node, "ports");
    for (Node port = document.first(list); port != kNoNode; port = document.next(port)) {
      if (!document.is(port, JsonKind::kString)) continue;
      if (document.text(port) == "d2h" ||
          known->second.contains(std::string(document.text(port)))) {
        continue;
      }
      findings.add_value(Rule::kTopologyRank, port,
                         fmt::format("a port of local_id {} on layer {}: {}", rank.local_id,
                                     level.layer, fmt::join(known->second, ", ")));
    }
  }
}

}  // namespace

CheckedTopology check_topology(std::string text) {
  CheckedTopology checked;
  CheckedTable& table = checked.table;
  const std::size_t size = text.size();
  table.document = JsonDocument::parse(std::move(text));
  table.cluster.form = recognise(table.document);
  Findings findings(table.document);
  add_syntax(table.document, findings);
  if (size > kBytesMax) {
    findings.add(Rule::kTooLong, kNoNode).expected = fmt::format("at most {} bytes", kBytesMax);
  }
  const CheckOptions options;
  Reading reading{.document = table.document,
                  .options = options,
                  .findings = findings,
                  .cluster = table.cluster};
  if (table.cluster.form == Form::kTopology) {
    TopologyReader(reading, checked.topology).read();
  } else {
    TableFinding& finding = findings.add(Rule::kForeignFile, table.document.root());
    finding.found = std::string(describe(table.cluster.form));
    finding.expected = "a topology file";
  }
  table.findings = std::move(findings).take();
  return checked;
}

void check_against(const Topology& topology, CheckedTable& table) {
  if (table.cluster.form != Form::kV20) return;
  Findings findings(table.document);
  for (const Rank& rank : table.cluster.ranks) {
    if (rank.local_id < 0) continue;
    const Node id = table.document.member(rank.node, "local_id");
    if (!topology.peers.contains(rank.local_id)) {
      findings.add_value(Rule::kTopologyRank, id, "a local_id of the topology file");
      continue;
    }
    for (const Level& level : rank.levels) {
      check_ports(topology, rank, level, table.document, findings);
    }
  }
  for (TableFinding& finding : std::move(findings).take()) {
    table.findings.push_back(std::move(finding));
  }
  std::ranges::sort(table.findings, {},
                    [](const TableFinding& finding) { return finding.span.begin; });
}

}  // namespace commrig::topo
