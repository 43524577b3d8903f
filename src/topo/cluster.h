// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/json_document.h"

namespace commrig::topo {

// What a file is, by its keys.
enum class Form : std::uint8_t {
  kNone,   // nothing that is known
  kCloud,  // the old template, without version: groups, instances, pods
  kLab,    // the old template with deploy_mode
  kV10,
  kV11,
  kV12,
  kV20,
  // Relatives that HCCL does not read.
  kGlobal,         // of MindIE: groups of servers
  kPrefillDecode,  // lists of prefill and decode devices
  kLocalResource,  // a table without ranks, of LLM-DataDist
  kJobSummary,     // of ClusterD
  kAnnotation,     // of a pod
  kConfigMap,      // a table as text inside an object of Kubernetes
  kTopology,       // the companion of 2.0
  kRootInfo        // of one host, for negotiation without a table
};
// "rank table 1.2", "global table of MindIE", ...
std::string_view describe(Form form);
bool is_rank_table(Form form);

enum class Chip : std::uint8_t { kAny, k910, k310P, kA2, kA3, k950 };
std::string_view name(Chip chip);
// "910", "310p", "a2", "a3", "950"; nothing for other texts.
std::optional<Chip> parse_chip(std::string_view text);

// The rest is of version 2.0.
struct NetAddress {
  std::string type{};  // EID, IPV4, IPV6
  std::string address{};
  std::vector<std::string> backups{};
  std::vector<std::string> ports{};
  std::string plane{};
  Node node = kNoNode;
};

struct Level {
  int layer = 0;
  std::string instance{};
  std::string type{};
  std::vector<NetAddress> addresses{};
  Node node = kNoNode;
};

// A rank, which is one device, or in 1.1 perhaps a process without one. Numbers are -1 and ports 0
// where they are absent or were not readable.
struct Rank {
  Node node = kNoNode;         // the object with its rank_id
  Node device_node = kNoNode;  // the object with its device_id; mostly the same
  int id = -1;
  int device = -1;
  int server = -1;  // index into Cluster::servers
  std::string device_ip{};
  std::string backup_ip{};
  int device_port = 0;
  int host_port = 0;
  int backup_port = 0;
  std::optional<std::uint32_t> super_device{};
  int local_id = -1;
  int replaced_id = -1;
  std::vector<Level> levels{};
};

struct Server {
  Node node = kNoNode;
  std::string id{};
  std::string host_ip{};
  std::string container_ip{};
  std::string hardware_type{};
  int pod = -1;                        // index into Cluster::pods, the last that names it
  std::vector<std::uint32_t> ranks{};  // indices into Cluster::ranks, in the order of the file
};

struct SuperPod {
  Node node = kNoNode;
  std::string id{};
  std::vector<int> servers{};  // indices into Cluster::servers
};

// What all forms say. In the cloud form servers and ranks are numbered as HCCL does it: by the byte
// order of server_id, then by device. In 2.0 the instance of layer 0 is the server, that of layer 1
// the super pod. A value; nodes are those of the document that it was read from.
struct Cluster {
  Form form = Form::kNone;
  std::string status{};
  std::string collective_id{};
  std::string mode{};
  std::vector<Server> servers{};
  std::vector<Rank> ranks{};
  std::vector<SuperPod> pods{};
  bool has_pod_list = false;  // super_pod_list is there, perhaps empty
};

}  // namespace commrig::topo
