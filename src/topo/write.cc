// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/write.h"

#include <fmt/format.h>

namespace commrig::topo {
namespace {

// The members of one object, in a line.
class Members {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) raw(key, quoted(value));
  }
  void number_text(std::string_view key, int value, int absent) {
    if (value != absent) raw(key, fmt::format("\"{}\"", value));
  }
  void number(std::string_view key, int value, int absent) {
    if (value != absent) raw(key, std::to_string(value));
  }
  void raw(std::string_view key, std::string_view json) {
    out_ += fmt::format("{}\"{}\": {}", out_.empty() ? "" : ", ", key, json);
  }
  const std::string& inside() const { return out_; }
  std::string object() const { return "{" + out_ + "}"; }

 private:
  std::string out_;
};

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string device_line(const Rank& rank, Form form) {
  Members members;
  members.number_text("device_id", rank.device, -1);
  if (form == Form::kV12 && rank.super_device) {
    members.raw("super_device_id", fmt::format("\"{}\"", *rank.super_device));
  }
  members.text("device_ip", rank.device_ip);
  members.number_text("device_port", rank.device_port, 0);
  members.text("backup_device_ip", rank.backup_ip);
  members.number_text("backup_device_port", rank.backup_port, 0);
  members.number_text("host_port", rank.host_port, 0);
  members.number_text("rank_id", rank.id, -1);
  return members.object();
}

std::string server_lines(const Cluster& cluster, const Server& server, Form form) {
  Members members;
  members.text("server_id", server.id);
  members.text("host_ip", server.host_ip);
  members.text("container_ip", server.container_ip);
  members.text("hardware_type", server.hardware_type);
  std::vector<std::string> devices;
  for (const std::uint32_t i : server.ranks) {
    devices.push_back(device_line(cluster.ranks[i], form));
  }
  return fmt::format("    {{{},\n     \"device\": [\n       {}\n     ]}}", members.inside(),
                     joined(devices, ",\n       "));
}

std::string pod_line(const Cluster& cluster, const SuperPod& pod) {
  std::vector<std::string> servers;
  for (const int i : pod.servers) {
    servers.push_back("{\"server_id\": " + quoted(cluster.servers[static_cast<std::size_t>(i)].id) +
                      "}");
  }
  return fmt::format("    {{\"super_pod_id\": {}, \"server_list\": [{}]}}", quoted(pod.id),
                     joined(servers, ", "));
}

std::string write_concise(const Cluster& cluster, Form form) {
  std::vector<std::string> servers;
  for (const Server& server : cluster.servers) {
    servers.push_back(server_lines(cluster, server, form));
  }
  std::string text = fmt::format(
      "{{\n  \"status\": \"completed\",\n  \"version\": \"{}\",\n  \"server_count\": \"{}\",\n"
      "  \"server_list\": [\n{}\n  ]",
      form == Form::kV12 ? "1.2" : "1.0", servers.size(), joined(servers, ",\n"));
  if (form == Form::kV12 && !cluster.pods.empty()) {
    std::vector<std::string> pods;
    for (const SuperPod& pod : cluster.pods) pods.push_back(pod_line(cluster, pod));
    text += fmt::format(",\n  \"super_pod_list\": [\n{}\n  ]", joined(pods, ",\n"));
  }
  return text + "\n}\n";
}

std::string text_list(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(quoted(text));
  return fmt::format("[{}]", joined(out, ", "));
}

std::string level_line(const Level& level) {
  std::vector<std::string> addresses;
  for (const NetAddress& address : level.addresses) {
    Members members;
    members.text("addr_type", address.type);
    members.text("addr", address.address);
    if (!address.backups.empty()) members.raw("backup_addr", text_list(address.backups));
    members.raw("ports", text_list(address.ports));
    members.text("plane_id", address.plane);
    addresses.push_back(members.object());
  }
  Members members;
  members.number("net_layer", level.layer, -1);
  members.text("net_instance_id", level.instance);
  members.text("net_type", level.type);
  members.raw("rank_addr_list", fmt::format("[{}]", joined(addresses, ", ")));
  return members.object();
}

std::string rank_lines(const Rank& rank) {
  Members members;
  members.number("rank_id", rank.id, -1);
  members.number("local_id", rank.local_id, -1);
  members.number("replaced_local_id", rank.replaced_id, -1);
  members.number("device_id", rank.device, -1);
  members.number("device_port", rank.device_port, 0);
  members.number("host_port", rank.host_port, 0);
  std::vector<std::string> levels;
  for (const Level& level : rank.levels) levels.push_back(level_line(level));
  return fmt::format("    {{{},\n     \"level_list\": [\n       {}\n     ]}}", members.inside(),
                     joined(levels, ",\n       "));
}

std::string write_levels(const Cluster& cluster) {
  std::vector<std::string> ranks;
  for (const Server& server : cluster.servers) {
    for (const std::uint32_t i : server.ranks) ranks.push_back(rank_lines(cluster.ranks[i]));
  }
  return fmt::format(
      "{{\n  \"version\": \"2.0\",\n  \"status\": \"completed\",\n  \"rank_count\": {},\n"
      "  \"rank_list\": [\n{}\n  ]\n}}\n",
      ranks.size(), joined(ranks, ",\n"));
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<std::string> write_table(const Cluster& cluster, Form form) {
  if (form == Form::kV10 || form == Form::kV12) return write_concise(cluster, form);
  if (form == Form::kV20) return write_levels(cluster);
  return Error::make(Code::kBadArgument, fmt::format("a {} cannot be written", describe(form)));
}

std::optional<Form> parse_version(std::string_view text) {
  if (text == "1.0") return Form::kV10;
  if (text == "1.2") return Form::kV12;
  if (text == "2.0") return Form::kV20;
  return {};
}

}  // namespace commrig::topo
