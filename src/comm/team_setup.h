// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "base/address.h"
#include "base/clock.h"
#include "bootstrap/exchange.h"
#include "comm/process.h"
#include "comm/team.h"

namespace commrig::comm {

// The device of a rank, where ranks have to be on different ones; all processes of a host have the
// same devices, unless they are a process's own.
struct DevicePlace {
  int number = -1;  // -1: it may be that of others
  bool is_own = false;
};

struct TeamOptions {
  // Ranks of other processes are reached through TCP even where memory could be shared.
  bool tcp_between_processes = false;
  Address listen = Address::loopback(AF_INET);  // of the interface for TCP; port 0
  Nanos connect_within = std::chrono::seconds(120);
  DevicePlace device{};
};

// The team of the ranks of an exchange, each of which calls this; ranks of one process get the
// same. Returns when all ranks have theirs. An error on one rank is an error on all. Ranks that are
// on one device and must not be are kSameDevice.
Result<std::shared_ptr<Team>> set_up_team(Process& process, bootstrap::Exchange& exchange,
                                          const TeamOptions& options);

}  // namespace commrig::comm
