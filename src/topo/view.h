// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "topo/cluster.h"

namespace commrig::topo {

// A line a rank: super pod, server, rank, device, address, and where there are any, ports and
// super_device_id; in the order of ranks.
std::string rank_table_text(const Cluster& cluster);

// A line for each value in which two clusters differ, by rank; then by server. Empty when they say
// the same, in whatever order.
std::vector<std::string> differences(const Cluster& before, const Cluster& after);

}  // namespace commrig::topo
