// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/make.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "topo/ip.h"
#include "topo/readers.h"
#include "topo/super_device.h"

namespace commrig::topo {
namespace {

constexpr std::size_t kRanksMax = 1'000'000;
constexpr std::size_t kRanksMax20 = 65'536;
constexpr std::size_t kPodServersMax = 1024;  // what the bits of a super_device_id have room for

Error bad(std::string message) {
  return Error::make(Code::kBadArgument, std::move(message));
}

std::string with_number(std::string text, std::string_view name, std::size_t number) {
  const std::string field = fmt::format("{{{}}}", name);
  for (std::size_t at = text.find(field); at != std::string::npos; at = text.find(field, at)) {
    text.replace(at, field.size(), std::to_string(number));
  }
  return text;
}

// `base` plus `count`, or nothing beyond the last address of the family.
std::optional<std::string> counted_up(Ip base, std::size_t count) {
  std::size_t carry = count;
  for (std::size_t i = base.is_v6 ? 16 : 4; i > 0 && carry != 0; --i) {
    const std::size_t sum = base.bytes[i - 1] + carry;
    base.bytes[i - 1] = static_cast<std::uint8_t>(sum & 0xffU);
    carry = sum >> 8U;
  }
  if (carry != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(base.is_v6 ? AF_INET6 : AF_INET, base.bytes.data(), text.data(), text.size());
  return std::string(text.data());
}

Result<std::string> patterned(const std::string& pattern, std::size_t host, std::size_t device,
                              std::size_t rank) {
  if (pattern.find('{') == std::string::npos) {
    const auto base = parse_ip(pattern);
    if (!base) return bad(fmt::format("\"{}\" is neither an address nor a pattern", pattern));
    const auto address = counted_up(*base, rank);
    if (!address) return bad(fmt::format("there are not so many addresses from {} on", pattern));
    return *address;
  }
  std::string text = with_number(pattern, "host", host);
  text = with_number(std::move(text), "device", device);
  text = with_number(std::move(text), "rank", rank);
  if (parse_ip(text)) return text;
  return bad(fmt::format("\"{}\" gives \"{}\" for host {}, device {}: no address", pattern, text,
                         host, device));
}

Status check_options(const MakeOptions& options) {
  // In 2.0 local_id 64 is the spare one, which replaces another.
  const std::size_t most =
      options.form == Form::kV20 ? 64 : device_most(options.form, Chip::kAny) + 1;
  if (options.hosts.empty()) return bad("no hosts");
  if (options.devices < 1 || static_cast<std::size_t>(options.devices) > most) {
    return bad(fmt::format("{} devices a host; expected 1 to {}", options.devices, most));
  }
  const std::size_t ranks = options.hosts.size() * static_cast<std::size_t>(options.devices);
  const std::size_t ranks_max = options.form == Form::kV20 ? kRanksMax20 : kRanksMax;
  if (ranks > ranks_max) return bad(fmt::format("{} ranks; expected at most {}", ranks, ranks_max));
  std::set<std::string_view> names;
  for (const MakeHost& host : options.hosts) {
    if (host.id.empty() || host.id.size() > 64) {
      return bad(fmt::format("host \"{}\"; expected 1 to 64 characters", host.id));
    }
    if (!names.insert(host.id).second) return bad(fmt::format("host \"{}\" twice", host.id));
    if (!host.host_ip.empty() && !parse_ip(host.host_ip)) {
      return bad(fmt::format("\"{}\" of host {} is no address", host.host_ip, host.id));
    }
  }
  const auto pod = static_cast<std::size_t>(options.pod_servers);
  const std::size_t pod_size = pod == 0 ? options.hosts.size() : pod;
  if (options.form == Form::kV12 && (options.pod_servers < 0 || pod_size > kPodServersMax)) {
    return bad(
        fmt::format("{} servers in a super pod; expected at most {}: their number is a part "
                    "of super_device_id",
                    pod_size, kPodServersMax));
  }
  return ok();
}

Result<std::string> address_of(const MakeOptions& options, std::size_t host, int device,
                               std::size_t rank) {
  const auto& own = options.hosts[host].addresses;
  if (const auto found = own.find(device); found != own.end()) return found->second;
  if (!own.empty()) {
    return bad(
        fmt::format("hccn.conf of host {} has no address_{}", options.hosts[host].id, device));
  }
  if (options.address.empty()) return std::string();
  return patterned(options.address, host, static_cast<std::size_t>(device), rank);
}

void add_levels(const MakeOptions& options, const std::string& host, const std::string& pod,
                Rank& rank) {
  rank.local_id = rank.device;
  NetAddress address{.type = "IPV4", .address = rank.device_ip, .ports = {options.port}};
  if (rank.device_ip.find(':') != std::string::npos) address.type = "IPV6";
  Level inner{.layer = 0, .instance = host, .type = "TOPO_FILE_DESC"};
  if (!rank.device_ip.empty()) inner.addresses.push_back(address);
  Level outer{.layer = 1, .instance = pod, .type = "CLOS"};
  if (!rank.device_ip.empty()) outer.addresses.push_back(address);
  rank.levels = {std::move(inner), std::move(outer)};
}

// The super pod of host `index`, made when it is its first.
int pod_of(const MakeOptions& options, std::size_t index, Cluster& cluster) {
  const auto size = static_cast<std::size_t>(options.pod_servers);
  const std::size_t pod = size == 0 ? 0 : index / size;
  if (cluster.pods.size() <= pod) cluster.pods.push_back({.id = std::to_string(pod)});
  cluster.pods[pod].servers.push_back(static_cast<int>(index));
  return static_cast<int>(pod);
}

}  // namespace

Result<Cluster> make_cluster(const MakeOptions& options) {
  COMMRIG_TRY(check_options(options));
  Cluster cluster;
  cluster.form = options.form;
  cluster.status = "completed";
  for (std::size_t host = 0; host < options.hosts.size(); ++host) {
    Server server{.id = options.hosts[host].id, .host_ip = options.hosts[host].host_ip};
    server.pod = options.form == Form::kV10 ? -1 : pod_of(options, host, cluster);
    for (int device = 0; device < options.devices; ++device) {
      Rank rank{.id = static_cast<int>(cluster.ranks.size()), .device = device};
      rank.server = static_cast<int>(host);
      COMMRIG_ASSIGN(rank.device_ip, address_of(options, host, device, cluster.ranks.size()));
      if (options.form == Form::kV12) {
        const auto& pod = cluster.pods[static_cast<std::size_t>(server.pod)];
        rank.super_device = encode_super_device(static_cast<int>(pod.servers.size()) - 1, device);
      }
      if (options.form == Form::kV20) {
        add_levels(options, server.id, cluster.pods[static_cast<std::size_t>(server.pod)].id, rank);
      }
      server.ranks.push_back(static_cast<std::uint32_t>(cluster.ranks.size()));
      cluster.ranks.push_back(std::move(rank));
    }
    cluster.servers.push_back(std::move(server));
  }
  return cluster;
}

Result<std::map<int, std::string>> parse_hccn(std::string_view text) {
  constexpr std::string_view kKey = "address_";
  std::map<int, std::string> addresses;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kKey) || equals == std::string_view::npos) continue;
    const auto device = decimal(line.substr(kKey.size(), equals - kKey.size()));
    const std::string_view address = line.substr(equals + 1);
    if (!device || *device > 64 || !parse_ip(address)) {
      return bad(fmt::format("\"{}\" of hccn.conf; expected address_0=192.0.2.1", line));
    }
    if (!addresses.emplace(static_cast<int>(*device), address).second) {
      return bad(fmt::format("hccn.conf has address_{} twice", *device));
    }
  }
  if (addresses.empty()) return bad("hccn.conf has no line address_0=...");
  return addresses;
}

}  // namespace commrig::topo
