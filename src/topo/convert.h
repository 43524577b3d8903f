// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "topo/cluster.h"

namespace commrig::topo {

struct ConvertOptions {
  Form form = Form::kV12;  // kV10, kV12 or kV20
  std::string port{};      // of every address of 2.0, where the source has none
};

// A cluster in another form, and in words what that costs.
struct ConvertedCluster {
  Cluster cluster;
  std::vector<std::string> lost;     // "super_device_id of 16 ranks"
  std::vector<std::string> missing;  // what somebody has to add
};

// Nothing is guessed: a value that the source doesn't have is missing, or kBadArgument where the
// target cannot be without it. Between 1.x and 2.0, server_id stands for the instance of layer 0,
// super_pod_id for that of layer 1, and device_ip for the first IP address of a rank.
Result<ConvertedCluster> convert_cluster(const Cluster& source, const ConvertOptions& options);

// Per-host tables as one: servers in the order of the clusters and within each in its own, ranks
// numbered anew in the order (cluster, old rank), super pods of the same name joined. All must have
// the same form; kBadArgument where not, and for a server that two of them have.
Result<Cluster> merge_clusters(const std::vector<Cluster>& parts);

}  // namespace commrig::topo
