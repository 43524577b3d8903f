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

struct TeamOptions {
  // Ranks of other processes are reached through TCP even where memory could be shared.
  bool tcp_between_processes = false;
  Address listen = Address::loopback(AF_INET);  // of the interface for TCP; port 0
  Nanos connect_within = std::chrono::seconds(120);
};

// The team of the ranks of an exchange, each of which calls this; ranks of one process get the
// same. Returns when all ranks have theirs. An error on one rank is an error on all.
Result<std::shared_ptr<Team>> set_up_team(Process& process, bootstrap::Exchange& exchange,
                                          const TeamOptions& options);

}  // namespace commrig::comm
