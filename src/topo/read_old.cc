// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "topo/readers.h"

namespace commrig::topo {
namespace {

using enum Need;

constexpr std::array kCloudKeys{Key{"status", kRequired}, Key{"group_count", kRequired},
                                Key{"group_list", kRequired, Type::kList}};
constexpr std::array kCloudGroupKeys{Key{"group_name", kRequired}, Key{"instance_count", kRequired},
                                     Key{"device_count", kRequired},
                                     Key{"instance_list", kRequired, Type::kList}};
constexpr std::array kCloudInstanceKeys{Key{"pod_name", kRequired}, Key{"server_id", kRequired},
                                        Key{"devices", kRequired, Type::kList}};
constexpr std::array kLabKeys{
    Key{"status", kRequired},
    Key{"deploy_mode", kRequired},
    Key{"para_plane_nic_location", kRequired},
    Key{"group_count", kRequired},
    Key{"group_list", kRequired, Type::kList},
    Key{"board_id", kIgnored, Type::kAny},
    Key{"chip_info", kIgnored, Type::kAny},
    Key{"para_plane_nic_name", kIgnored, Type::kAny},
    Key{"para_plane_nic_num", kIgnored, Type::kAny},
    Key{"para_plane_location", kIgnored, Type::kAny},
};
constexpr std::array kLabGroupKeys{
    Key{"group_name", kRequired},
    Key{"device_num", kRequired},
    Key{"server_num", kRequired},
    Key{"instance_count", kRequired},
    Key{"instance_list", kRequired, Type::kList},
    Key{"server_list", kIgnored, Type::kAny},
};
constexpr std::array kLabInstanceKeys{
    Key{"rank_id", kRequired},
    Key{"server_id", kRequired},
    Key{"devices", kRequired, Type::kList},
    Key{"pod_name", kIgnored, Type::kAny},
};
constexpr std::array kDeviceKeys{Key{"device_id", kRequired}, Key{"device_ip"},
                                 Key{"ref_ip", kIgnored, Type::kAny}};

// What the groups of one file share.
class OldReader {
 public:
  explicit OldReader(Reading& reading)
      : reading_(reading), document_(reading.document), lab_(reading.cluster.form == Form::kLab) {}

  void read() {
    const Fields root(reading_, document_.root(),
                      lab_ ? std::span<const Key>(kLabKeys) : std::span<const Key>(kCloudKeys));
    if (lab_) lab_location(root);
    const Node list = root.node("group_list");
    if (list == kNoNode) return;
    for_each_element(document_, list, [this](Node node) { group(node); });
    check_count(reading_, root, "group_count", document_.size(list), "groups listed");
    if (!lab_) number_ranks();
    require_addresses();
  }

 private:
  void lab_location(const Fields& root) {
    const Node node = root.node("para_plane_nic_location");
    if (node == kNoNode || reading_.text(node) == "device") return;
    reading_.findings.add_value(Rule::kLabNic, node, "\"device\"");
  }

  void unique(std::unordered_map<std::string, Node>& names, const std::string& text, Node node) {
    if (text.empty()) return;
    const auto [first, is_new] = names.emplace(text, node);
    if (is_new) return;
    TableFinding& finding =
        reading_.findings.add_value(Rule::kNameTwice, node, "a name of its own");
    finding.related.push_back(reading_.findings.place(first->second));
  }

  void group(Node node) {
    const Fields fields(
        reading_, node,
        lab_ ? std::span<const Key>(kLabGroupKeys) : std::span<const Key>(kCloudGroupKeys));
    if (document_.elided(node) && document_.size(node) == 0) return;
    unique(group_names_, read_name(reading_, fields, "group_name", 0, 127),
           fields.node("group_name"));
    const Node list = fields.node("instance_list");
    if (list == kNoNode) return;
    const std::size_t before = reading_.cluster.ranks.size();
    for_each_element(document_, list, [this](Node each) { instance(each); });
    check_count(reading_, fields, "instance_count", document_.size(list), "instances listed");
    const std::size_t devices = reading_.cluster.ranks.size() - before;
    check_count(reading_, fields, lab_ ? "device_num" : "device_count", devices, "devices listed");
    if (lab_) lab_numbers(fields);
  }

  void lab_numbers(const Fields& fields) {
    const auto devices = decimal(fields.text("device_num"));
    const Node node = fields.node("server_num");
    const auto servers = decimal(reading_.text(node));
    if (!devices || !servers || node == kNoNode) return;
    const std::uint32_t each = *servers == 0 || *devices % *servers != 0 ? 0 : *devices / *servers;
    constexpr std::array<std::uint32_t, 5> kAllowed{1, 2, 4, 8, 16};
    const bool any = reading_.options.chip == Chip::k310P || is_310p();
    if (each != 0 && (any || std::ranges::count(kAllowed, each) != 0)) return;
    reading_.findings
        .add_value(Rule::kLabDevices, node, "device_num divided by 1, 2, 4, 8 or 16 devices")
        .detail = fmt::format("device_num is {}", *devices);
  }
  bool is_310p() const {
    return reading_.text(document_.member(document_.root(), "chip_info")).starts_with("310");
  }

  void instance(Node node) {
    const Fields fields(
        reading_, node,
        lab_ ? std::span<const Key>(kLabInstanceKeys) : std::span<const Key>(kCloudInstanceKeys));
    if (document_.elided(node) && document_.size(node) == 0) return;
    ++instances_;
    if (!lab_) {
      unique(pod_names_, read_name(reading_, fields, "pod_name", 1, 127), fields.node("pod_name"));
    }
    const int server = server_of(read_name(reading_, fields, "server_id", 1, 64), node);
    const int id = lab_ ? read_rank(reading_, fields, "rank_id") : -1;
    const Node devices = fields.node("devices");
    if (devices == kNoNode) return;
    if (lab_ && document_.size(devices) > 1) {
      reading_.findings.add_value(Rule::kCount, devices, "one device an instance").variable =
          "devices";
    }
    for_each_element(document_, devices,
                     [&](Node each) { device(each, lab_ ? node : each, server, id); });
  }

  // The key is needed, its text may be empty.
  void require_addresses() {
    if (instances_ < 2) return;
    for (const Rank& rank : reading_.cluster.ranks) {
      if (document_.member(rank.device_node, "device_ip") != kNoNode) continue;
      TableFinding& finding = reading_.findings.add(Rule::kMissingKey, rank.device_node);
      finding.variable = "device_ip";
      finding.expected = "\"device_ip\", perhaps empty";
    }
  }

  // Several instances may share a server.
  int server_of(const std::string& id, Node node) {
    const auto& servers = reading_.cluster.servers;
    const auto [found, is_new] = servers_.emplace(id, static_cast<int>(servers.size()));
    if (is_new) add_server(reading_.cluster, {.node = node, .id = id});
    return found->second;
  }

  void device(Node node, Node rank_node, int server, int id) {
    const Fields fields(reading_, node, kDeviceKeys);
    if (document_.elided(node) && document_.size(node) == 0) return;
    Rank rank;
    rank.node = rank_node;
    rank.device_node = node;
    rank.server = server;
    rank.id = id;
    read_device_id(reading_, fields, rank);
    rank.device_ip = fields.text("device_ip");
    add_rank(reading_.cluster, std::move(rank));
  }

  // Ranks as HCCL gives them out: by the bytes of server_id, then by device.
  void number_ranks() {
    Cluster& cluster = reading_.cluster;
    std::map<std::pair<std::string_view, int>, std::vector<std::uint32_t>> order;
    for (std::uint32_t i = 0; i < cluster.ranks.size(); ++i) {
      const Rank& rank = cluster.ranks[i];
      order[{cluster.servers[static_cast<std::size_t>(rank.server)].id, rank.device}].push_back(i);
    }
    int next = 0;
    for (const auto& [place, ranks] : order) {
      for (const std::uint32_t i : ranks) cluster.ranks[i].id = next++;
    }
  }

  Reading& reading_;
  const JsonDocument& document_;
  bool lab_;
  std::size_t instances_ = 0;
  std::unordered_map<std::string, Node> group_names_;
  std::unordered_map<std::string, Node> pod_names_;
  std::unordered_map<std::string, int> servers_;
};

}  // namespace

void read_old(Reading& reading) {
  OldReader(reading).read();
}

}  // namespace commrig::topo
