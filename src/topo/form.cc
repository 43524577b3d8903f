// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/form.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace commrig::topo {
namespace {

struct ChipName {
  Chip chip;
  std::string_view name;
};
constexpr std::array kChips{ChipName{Chip::kAny, "any"},   ChipName{Chip::k910, "910"},
                            ChipName{Chip::k310P, "310p"}, ChipName{Chip::kA2, "a2"},
                            ChipName{Chip::kA3, "a3"},     ChipName{Chip::k950, "950"}};

bool has_any(const JsonDocument& document, Node object,
             std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(
      keys, [&](std::string_view key) { return document.member(object, key) != kNoNode; });
}

std::string_view text_of(const JsonDocument& document, Node node) {
  return document.is(node, JsonKind::kString) ? document.text(node) : std::string_view();
}

// Devices, and none of them has a rank.
bool lacks_ranks(const JsonDocument& document, Node servers) {
  bool devices_seen = false;
  if (!document.is(servers, JsonKind::kArray)) return false;
  for (Node server = document.first(servers); server != kNoNode; server = document.next(server)) {
    const Node devices = document.member(server, "device");
    if (!document.is(devices, JsonKind::kArray)) continue;
    for (Node device = document.first(devices); device != kNoNode; device = document.next(device)) {
      if (!document.is(device, JsonKind::kObject) || document.size(device) == 0) continue;
      if (document.member(device, "rank_id") != kNoNode) return false;
      devices_seen = true;
    }
  }
  return devices_seen;
}

Form of_server_list(const JsonDocument& document, Node servers) {
  const Node root = document.root();
  const Node first = document.is(servers, JsonKind::kArray) ? document.first(servers) : kNoNode;
  if (has_any(document, first, {"server_sn", "container_ids"}) ||
      (document.member(root, "total") != kNoNode &&
       document.member(first, "pod_name") != kNoNode)) {
    return Form::kJobSummary;
  }
  if (document.size(servers) == 1 && lacks_ranks(document, servers)) return Form::kLocalResource;
  const std::string_view version = text_of(document, document.member(root, "version"));
  if (version == "1.2") return Form::kV12;
  const bool pods = document.member(root, "super_pod_list") != kNoNode;
  return pods && version != "1.0" ? Form::kV12 : Form::kV10;
}

Form of_old_template(const JsonDocument& document) {
  return document.member(document.root(), "deploy_mode") != kNoNode ? Form::kLab : Form::kCloud;
}

}  // namespace

Form recognise(const JsonDocument& document) {
  const Node root = document.root();
  if (!document.is(root, JsonKind::kObject)) return Form::kNone;
  const auto has = [&](std::string_view key) { return document.member(root, key) != kNoNode; };
  if (has("server_group_list")) return Form::kGlobal;
  if (has("prefill_device_list") || has("decode_device_list")) return Form::kPrefillDecode;
  if (has("hccl.json") || (has("data") && has("kind"))) return Form::kConfigMap;
  if (has("peer_list") || has("edge_list")) return Form::kTopology;
  if (has("rank_list")) return has("topo_file_path") ? Form::kRootInfo : Form::kV20;
  if (has("server_list")) return of_server_list(document, document.member(root, "server_list"));
  if (has("node_list")) return Form::kV11;
  if (has("group_list")) return of_old_template(document);
  if (has("devices") && (has("pod_name") || has("server_id"))) return Form::kAnnotation;
  const std::string_view version = text_of(document, document.member(root, "version"));
  if (version == "1.0") return Form::kV10;
  if (version == "1.1") return Form::kV11;
  if (version == "1.2") return Form::kV12;
  if (version == "2.0") return Form::kV20;
  if (has("group_count")) return of_old_template(document);
  // What producers write before they know anything: {"status": "initializing"}.
  return has("status") && !has("version") ? Form::kCloud : Form::kNone;
}

std::string_view describe(Form form) {
  switch (form) {
    case Form::kNone:
      return "unknown file";
    case Form::kCloud:
      return "rank table of the old template, cloud form";
    case Form::kLab:
      return "rank table of the old template, lab form";
    case Form::kV10:
      return "rank table 1.0";
    case Form::kV11:
      return "rank table 1.1";
    case Form::kV12:
      return "rank table 1.2";
    case Form::kV20:
      return "rank table 2.0";
    case Form::kGlobal:
      return "global table of MindIE (global_ranktable.json)";
    case Form::kPrefillDecode:
      return "table of prefill and decode devices";
    case Form::kLocalResource:
      return "table of local resources for LLM-DataDist, without ranks";
    case Form::kJobSummary:
      return "summary of a job by ClusterD";
    case Form::kAnnotation:
      return "annotation of a pod, from which a table is made";
    case Form::kConfigMap:
      return "ConfigMap that holds a table as text";
    case Form::kTopology:
      return "topology file, the companion of a rank table 2.0";
    case Form::kRootInfo:
      break;
  }
  return "description of one host (hccl_rootinfo.json)";
}

bool is_rank_table(Form form) {
  return form >= Form::kCloud && form <= Form::kV20;
}

std::string_view name(Chip chip) {
  return std::ranges::find(kChips, chip, &ChipName::chip)->name;
}

std::optional<Chip> parse_chip(std::string_view text) {
  const auto* const row = std::ranges::find(kChips, text, &ChipName::name);
  if (row == kChips.end() || row->chip == Chip::kAny) return {};
  return row->chip;
}

}  // namespace commrig::topo
