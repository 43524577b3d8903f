// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "topo/check.h"

namespace commrig::topo {

// What the companion of a table 2.0 says about one host: its NPUs and where they have ports.
struct Topology {
  std::set<int> peers;                                         // local ids
  std::map<std::pair<int, int>, std::set<std::string>> ports;  // of (layer, local id)
};

// Reads the text of a topology file; `table` of the result has its document and its findings
// (CR-TAB81, CR-TAB82, and those of every text), but no cluster.
struct CheckedTopology {
  CheckedTable table;
  Topology topology;
};
CheckedTopology check_topology(std::string text);

// Adds to the findings of a table 2.0 what does not fit the topology (CR-TAB83). Nothing for tables
// of other versions.
void check_against(const Topology& topology, CheckedTable& table);

}  // namespace commrig::topo
