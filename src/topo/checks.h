// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "topo/reading.h"

// The rules between values, over the cluster that a reader has filled. Each is independent of the
// others and takes time in proportion to the table.
namespace commrig::topo {

void check_ranks(Reading& reading);      // 0 to N-1, each once, in blocks; the process's own
void check_devices(Reading& reading);    // repeated, uneven, legal sets
void check_servers(Reading& reading);    // names and addresses of servers, ports on them
void check_addresses(Reading& reading);  // of devices
void check_pods(Reading& reading);       // super pods and super_device_id
void check_backups(Reading& reading);    // partner dies
void check_levels(Reading& reading);     // what 2.0 has besides

}  // namespace commrig::topo
