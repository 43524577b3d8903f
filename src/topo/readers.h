// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "topo/reading.h"

// One reader for each form: fills the cluster and finds what is wrong with single values. What is
// wrong between values is found by checks.h.
namespace commrig::topo {

void read_concise(Reading& reading);  // 1.0 and 1.2
void read_nodes(Reading& reading);    // 1.1
void read_old(Reading& reading);      // the old template, both forms
void read_levels(Reading& reading);   // 2.0

// Calls `read` with each element of a list. kNoNode has none.
template <typename Read>
void for_each_element(const JsonDocument& document, Node list, Read read) {
  if (list == kNoNode) return;
  for (Node node = document.first(list); node != kNoNode; node = document.next(node)) read(node);
}

// Puts a server into the cluster, and a rank into its server; the index of the server.
int add_server(Cluster& cluster, Server server);
void add_rank(Cluster& cluster, Rank rank);

// The physical number of a device in its device_id, for every form before 2.0.
void read_device_id(Reading& reading, const Fields& fields, Rank& rank);
// The largest device_id that some chip of the form has, or the chip at hand.
std::uint32_t device_most(Form form, Chip chip);

}  // namespace commrig::topo
