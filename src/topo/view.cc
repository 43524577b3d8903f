// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/view.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "topo/super_device.h"

namespace commrig::topo {
namespace {

using Row = std::array<std::string, 7>;

std::string number(int value, int absent) {
  return value == absent ? "-" : std::to_string(value);
}

std::string pod_name(const Cluster& cluster, const Server& server) {
  return server.pod < 0 ? "-" : cluster.pods[static_cast<std::size_t>(server.pod)].id;
}

std::string address_of(const Rank& rank) {
  if (!rank.device_ip.empty()) return rank.device_ip;
  for (const Level& level : rank.levels) {
    if (!level.addresses.empty()) return level.addresses.front().address;
  }
  return "-";
}

std::string super_device_text(const Rank& rank) {
  if (!rank.super_device) return "-";
  if (is_small_super_device(*rank.super_device)) return std::to_string(*rank.super_device);
  const SuperDevice decoded = decode_super_device(*rank.super_device);
  return fmt::format("{} (server {}, device {})", *rank.super_device, decoded.server,
                     decoded.device);
}

// Everything that is said about a rank, by name.
std::vector<std::pair<std::string_view, std::string>> values_of(const Cluster& cluster,
                                                                const Rank& rank) {
  const Server& server = cluster.servers[static_cast<std::size_t>(rank.server)];
  std::string levels;
  for (const Level& level : rank.levels) {
    levels += fmt::format("{}{} {}", levels.empty() ? "" : "; ", level.layer, level.instance);
    for (const NetAddress& address : level.addresses) {
      levels +=
          fmt::format(" {}:{}[{}]", address.type, address.address, fmt::join(address.ports, ","));
    }
  }
  return {{"super pod", pod_name(cluster, server)},
          {"server", server.id},
          {"device_id", number(rank.device, -1)},
          {"device_ip", address_of(rank)},
          {"device_port", number(rank.device_port, 0)},
          {"host_port", number(rank.host_port, 0)},
          {"backup_device_ip", rank.backup_ip.empty() ? "-" : rank.backup_ip},
          {"super_device_id", rank.super_device ? std::to_string(*rank.super_device) : "-"},
          {"local_id", number(rank.local_id, -1)},
          {"levels", levels.empty() ? "-" : levels}};
}

std::map<int, const Rank*> by_id(const Cluster& cluster) {
  std::map<int, const Rank*> ranks;
  for (const Rank& rank : cluster.ranks) ranks.emplace(rank.id, &rank);
  return ranks;
}

std::map<std::string_view, const Server*> by_name(const Cluster& cluster) {
  std::map<std::string_view, const Server*> servers;
  for (const Server& server : cluster.servers) servers.emplace(server.id, &server);
  return servers;
}

}  // namespace

std::string rank_table_text(const Cluster& cluster) {
  std::vector<Row> rows{
      {"rank", "super pod", "server", "device", "address", "port", "super_device_id"}};
  for (const auto& [id, rank] : by_id(cluster)) {
    const Server& server = cluster.servers[static_cast<std::size_t>(rank->server)];
    rows.push_back({number(id, -1), pod_name(cluster, server), server.id, number(rank->device, -1),
                    address_of(*rank), number(rank->device_port, 0), super_device_text(*rank)});
  }
  std::array<std::size_t, 7> widths{};
  for (std::size_t column = 0; column < widths.size(); ++column) {
    bool used = false;
    for (const Row& row : rows) {
      used = used || (&row != &rows.front() && row[column] != "-");
      widths[column] = std::max(widths[column], row[column].size());
    }
    if (!used) widths[column] = 0;
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (widths[column] != 0) line += fmt::format("{:<{}}  ", row[column], widths[column]);
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> differences(const Cluster& before, const Cluster& after) {
  std::vector<std::string> lines;
  const auto old_ranks = by_id(before);
  const auto new_ranks = by_id(after);
  for (const auto& [id, rank] : old_ranks) {
    const auto other = new_ranks.find(id);
    if (other == new_ranks.end()) {
      lines.push_back(fmt::format("rank {}: only in the first", id));
      continue;
    }
    const auto old_values = values_of(before, *rank);
    const auto new_values = values_of(after, *other->second);
    for (std::size_t i = 0; i < old_values.size(); ++i) {
      if (old_values[i].second == new_values[i].second) continue;
      lines.push_back(fmt::format("rank {}: {} {} -> {}", id, old_values[i].first,
                                  old_values[i].second, new_values[i].second));
    }
  }
  for (const auto& [id, rank] : new_ranks) {
    if (!old_ranks.contains(id)) lines.push_back(fmt::format("rank {}: only in the second", id));
  }
  const auto old_servers = by_name(before);
  const auto new_servers = by_name(after);
  for (const auto& [name, server] : old_servers) {
    const auto other = new_servers.find(name);
    if (other == new_servers.end()) {
      lines.push_back(fmt::format("server {}: only in the first", name));
    } else if (server->host_ip != other->second->host_ip) {
      lines.push_back(fmt::format("server {}: host_ip {} -> {}", name,
                                  server->host_ip.empty() ? "-" : server->host_ip,
                                  other->second->host_ip.empty() ? "-" : other->second->host_ip));
    }
  }
  for (const auto& [name, server] : new_servers) {
    if (!old_servers.contains(name))
      lines.push_back(fmt::format("server {}: only in the second", name));
  }
  return lines;
}

}  // namespace commrig::topo
