// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "topo/cluster.h"

namespace commrig::topo {

struct MakeHost {
  std::string id;                          // server_id
  std::string host_ip{};                   // may be empty
  std::map<int, std::string> addresses{};  // device_ip by device_id, of hccn.conf; else the pattern
};

struct MakeOptions {
  Form form = Form::kV10;  // kV10, kV12 or kV20
  std::vector<MakeHost> hosts{};
  int devices = 8;  // of each host: device_id 0 to devices - 1
  // Of device_ip: an address that counts up from device to device, or a text with {host}, {device}
  // and {rank} in it, such as "10.{host}.0.{device}". Empty: hosts have their own, or there are
  // none.
  std::string address{};
  int pod_servers = 0;       // servers of a super pod; 0: one super pod holds all
  std::string port = "0/0";  // of every address in 2.0: "die/port"
};

// Ranks 0 to N-1, host by host. In 1.2 each device gets the super_device_id of its place in its
// super pod. Fails with kBadArgument, which names the option, and where a number does not fit its
// field.
Result<Cluster> make_cluster(const MakeOptions& options);

// Lines "address_0=192.0.2.1" of an hccn.conf, by device; others are skipped.
Result<std::map<int, std::string>> parse_hccn(std::string_view text);

}  // namespace commrig::topo
