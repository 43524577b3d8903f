// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "comm/tally.h"
#include "faces/cli/run/rank_environment.h"

namespace commrig::cli::run {

// One process of a job. It is a rank, as far as its environment goes; it may hold several.
struct ProcessSpec {
  Variables environment;
  std::vector<int> ranks;  // for messages
};

struct JobSpec {
  std::vector<std::string> program;
  std::vector<ProcessSpec> processes{};
  bool tags = false;  // in front of lines; else processes write by themselves
  Nanos timeout = kForever;
};

struct JobEnd {
  int exit_code = 0;
  Nanos took{};
  comm::Tally::Sum done{};             // by the ranks, where run_local_job() has asked them
  std::optional<Error> lost_output{};  // why something that ranks have written did not arrive
};

// Starts the ranks, passes on what they write and which signals come, and returns when all have
// ended and nothing of theirs runs any more. Says on standard error which rank has failed. Reads
// standard input for nobody: rank 0 gets it, unless there are several and it is a terminal.
//
// For a process that does nothing else and has one thread: it takes over the process's signals and
// children. Fails with kBadArgument where the program can't be started, and kSystemCall.
Result<JobEnd> run_job(const JobSpec& spec, const Clock& clock);

}  // namespace commrig::cli::run
