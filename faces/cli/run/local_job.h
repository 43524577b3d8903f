// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "faces/cli/run/rank_environment.h"
#include "faces/cli/run/supervisor.h"

namespace commrig::cli::run {

// A job all of whose processes are of this host.
struct LocalJob {
  std::vector<std::string> program;
  Variables variables;                  // of its environment, without those of ranks
  std::vector<std::vector<int>> ranks;  // [p] has those of process p, for messages
  std::uint64_t seed = 0;
  std::optional<int> devices{};
  bool tags = false;
  Nanos timeout = kForever;
};

// The environment of this process.
Variables own_variables();

// run_job() with ports of its own: each process is a rank in its environment, and tells what it has
// done.
Result<JobEnd> run_local_job(const LocalJob& job, const Clock& clock);

}  // namespace commrig::cli::run
