// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bootstrap/environment.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

// Where ranks meet that a launcher has told the address of rank 0's host, but no unique id: rank 0
// opens a root on `port` of its host, on all addresses. Where the launcher has told no address, but
// has all its ranks on this host and a name for the job (Open MPI, PMI, Slurm), that is a port of
// the loopback interface, by a hash of that name and of the user.
//
// The port is not MASTER_PORT, where torch's own store listens (in rank 0, or in torchrun). It is
// COMMRIG_PORT where that is set; else a number from 20000 to 29999 by a hash of the address and
// port of the master and of the run, and never MASTER_PORT itself. That range lies below the one
// from which Linux takes ports for outgoing connections. All ranks compute the same one. The number
// of the id comes from the same hash, so that two jobs that meet on one port know each other as
// strangers.
struct Meeting {
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t magic = 0;
};

// What a launcher says to one of its processes.
struct Launch {
  std::string_view launcher;  // "torchrun"
  int rank = 0;
  int ranks = 1;
  int local_rank = -1;  // on this host; -1 where the launcher doesn't say
  int local_ranks = -1;
  std::optional<UniqueId> id{};      // from COMMRIG_ID
  std::optional<Meeting> meeting{};  // from MASTER_ADDR and MASTER_PORT, or the job
};

// Reads the variables of commrig itself, torchrun, Open MPI, PMI and Slurm, in this order of
// precedence; nothing where no launcher was at work. Variables that are half set, malformed or
// contradict each other are kLaunchEnvironment. What lies further outside may differ: Slurm, which
// starts the others, everything around a real torchrun, and everything around COMMRIG_RANK.
Result<std::optional<Launch>> read_launch(Environment environment);

// The id by which this rank reaches the root of the meeting. Ranks may see other addresses of the
// same host, so its hash is not that of others.
Result<UniqueId> find_meeting(const Meeting& meeting);

}  // namespace commrig::bootstrap
