// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/convert.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "topo/ip.h"

namespace commrig::topo {
namespace {

using Ranks = std::vector<Rank>;

std::size_t count_if(const Ranks& ranks, const std::function<bool(const Rank&)>& test) {
  return static_cast<std::size_t>(std::ranges::count_if(ranks, test));
}

void note(std::vector<std::string>& notes, std::size_t count, std::string_view what) {
  if (count != 0) notes.push_back(fmt::format("{} of {} ranks", what, count));
}

const NetAddress* first_ip(const Rank& rank) {
  for (const Level& level : rank.levels) {
    for (const NetAddress& address : level.addresses) {
      if (address.type != "EID" && parse_ip(address.address)) return &address;
    }
  }
  return nullptr;
}

// From 2.0: the first IP address of each rank is its device's.
void take_addresses(ConvertedCluster& converted) {
  std::size_t lost = 0;
  for (Rank& rank : converted.cluster.ranks) {
    std::size_t addresses = 0;
    for (const Level& level : rank.levels) addresses += level.addresses.size();
    if (const NetAddress* const ip = first_ip(rank); ip != nullptr) {
      rank.device_ip = ip->address;
      if (!ip->backups.empty()) rank.backup_ip = ip->backups.front();
    }
    if (addresses > 1 || (addresses == 1 && rank.device_ip.empty())) ++lost;
    rank.levels.clear();
  }
  note(converted.lost, lost, "addresses, ports and planes of levels");
  note(converted.lost,
       count_if(converted.cluster.ranks, [](const Rank& rank) { return rank.replaced_id >= 0; }),
       "replaced_local_id");
  for (Rank& rank : converted.cluster.ranks) rank.local_id = rank.replaced_id = -1;
}

// To 2.0: two levels, server and super pod.
Status give_levels(ConvertedCluster& converted, const std::string& port) {
  if (port.empty()) {
    return Error::make(Code::kBadArgument,
                       "2.0 has ports for every address, and this table has none; give them as "
                       "--port, such as 0/0, from the topology file of the machines");
  }
  Cluster& cluster = converted.cluster;
  for (Rank& rank : cluster.ranks) {
    const Server& server = cluster.servers[static_cast<std::size_t>(rank.server)];
    if (rank.device < 0) {
      return Error::make(Code::kBadArgument,
                         fmt::format("rank {} has no device; 2.0 has only devices", rank.id));
    }
    rank.local_id = rank.device;
    NetAddress address{.type = "IPV4", .address = rank.device_ip, .ports = {port}};
    if (rank.device_ip.find(':') != std::string::npos) address.type = "IPV6";
    if (!rank.backup_ip.empty()) address.backups = {rank.backup_ip};
    Level level{.layer = 0, .instance = server.id, .type = "TOPO_FILE_DESC"};
    if (!rank.device_ip.empty()) level.addresses = {address};
    rank.levels = {level};
    if (server.pod < 0) continue;
    level.layer = 1;
    level.instance = cluster.pods[static_cast<std::size_t>(server.pod)].id;
    level.type = "CLOS";
    rank.levels.push_back(std::move(level));
  }
  note(converted.missing,
       count_if(cluster.ranks, [](const Rank& rank) { return rank.device_ip.empty(); }),
       "addresses");
  return ok();
}

void drop_for_20(ConvertedCluster& converted) {
  Cluster& cluster = converted.cluster;
  note(converted.lost,
       count_if(cluster.ranks, [](const Rank& rank) { return rank.super_device.has_value(); }),
       "super_device_id");
  note(converted.lost,
       count_if(cluster.ranks, [](const Rank& rank) { return rank.backup_port != 0; }),
       "backup_device_port");
  for (const auto& [name, member] : {std::pair("host_ip", &Server::host_ip),
                                     {"container_ip", &Server::container_ip},
                                     {"hardware_type", &Server::hardware_type}}) {
    const auto servers = std::ranges::count_if(
        cluster.servers, [&](const Server& server) { return !(server.*member).empty(); });
    if (servers != 0) converted.lost.push_back(fmt::format("{} of {} servers", name, servers));
  }
}

void drop_for_10(ConvertedCluster& converted) {
  Cluster& cluster = converted.cluster;
  note(converted.lost,
       count_if(cluster.ranks, [](const Rank& rank) { return rank.super_device.has_value(); }),
       "super_device_id");
  if (!cluster.pods.empty()) {
    converted.lost.push_back(fmt::format("{} super pods", cluster.pods.size()));
  }
  cluster.pods.clear();
  for (Server& server : cluster.servers) server.pod = -1;
}

// Super pods without numbers of devices are refused; numbers cannot be made up.
void prepare_12(ConvertedCluster& converted) {
  Cluster& cluster = converted.cluster;
  const std::size_t without =
      count_if(cluster.ranks, [](const Rank& rank) { return !rank.super_device.has_value(); });
  if (without == 0) {
    if (cluster.pods.empty()) converted.missing.emplace_back("super_pod_list");
    return;
  }
  note(converted.missing, without, "super_device_id (npu-smi prints it as SDID)");
  if (cluster.pods.empty())
    converted.missing.emplace_back("super_pod_list, if the machines have one");
}

Status fit_devices(const Cluster& cluster) {
  for (const Rank& rank : cluster.ranks) {
    if (rank.device >= 0) continue;
    return Error::make(Code::kBadArgument,
                       fmt::format("rank {} has no device; only 1.1 has such ranks", rank.id));
  }
  return ok();
}

}  // namespace

Result<ConvertedCluster> convert_cluster(const Cluster& source, const ConvertOptions& options) {
  ConvertedCluster converted;
  converted.cluster = source;
  Cluster& cluster = converted.cluster;
  cluster.form = options.form;
  if (source.form == options.form) return converted;
  if (options.form == Form::kV20) {
    COMMRIG_TRY(give_levels(converted, options.port));
    drop_for_20(converted);
    return converted;
  }
  COMMRIG_TRY(fit_devices(cluster));
  if (source.form == Form::kV20) take_addresses(converted);
  if (source.form == Form::kV11) converted.lost.emplace_back("collective_id and mode");
  if (options.form == Form::kV10) drop_for_10(converted);
  if (options.form == Form::kV12) prepare_12(converted);
  return converted;
}

Result<Cluster> merge_clusters(const std::vector<Cluster>& parts) {
  Cluster merged;
  std::set<std::string> servers;
  std::unordered_map<std::string, int> pods;
  for (const Cluster& part : parts) {
    if (&part == &parts.front()) merged.form = part.form;
    if (part.form != merged.form) {
      return Error::make(Code::kBadArgument,
                         fmt::format("a {} and a {} cannot become one table; convert one first",
                                     describe(merged.form), describe(part.form)));
    }
    std::vector<std::uint32_t> order(part.ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(part.ranks[i].id, i); });
    const int first_server = static_cast<int>(merged.servers.size());
    for (const Server& server : part.servers) {
      if (!servers.insert(server.id).second) {
        return Error::make(Code::kBadArgument,
                           fmt::format("server \"{}\" is in two of the tables", server.id));
      }
      merged.servers.push_back(server);
      merged.servers.back().ranks.clear();
      if (server.pod < 0) continue;
      const std::string& name = part.pods[static_cast<std::size_t>(server.pod)].id;
      const auto [pod, is_new] = pods.emplace(name, static_cast<int>(merged.pods.size()));
      if (is_new) merged.pods.push_back({.id = name});
      merged.servers.back().pod = pod->second;
      merged.pods[static_cast<std::size_t>(pod->second)].servers.push_back(
          static_cast<int>(merged.servers.size()) - 1);
    }
    for (const std::uint32_t i : order) {
      Rank rank = part.ranks[i];
      rank.id = static_cast<int>(merged.ranks.size());
      rank.server += first_server;
      merged.servers[static_cast<std::size_t>(rank.server)].ranks.push_back(
          static_cast<std::uint32_t>(rank.id));
      merged.ranks.push_back(std::move(rank));
    }
  }
  merged.status = "completed";
  return merged;
}

}  // namespace commrig::topo
