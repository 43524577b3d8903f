// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "faces/cli/run/rank_environment.h"

namespace commrig::cli::run {

struct JobSpec {
  std::vector<std::string> program;
  std::vector<Variables> environments;  // [r] is that of rank r
  bool tags = false;                    // in front of lines; else ranks write by themselves
  Nanos timeout = kForever;
};

struct JobEnd {
  int exit_code = 0;
  Nanos took{};
};

// Starts the ranks, passes on what they write and which signals come, and returns when all have
// ended and nothing of theirs runs any more. Says on standard error which rank has failed. Reads
// standard input for nobody: rank 0 gets it, unless there are several and it is a terminal.
//
// For a process that does nothing else and has one thread: it takes over the process's signals and
// children. Fails with kBadArgument where the program can't be started, and kSystemCall.
Result<JobEnd> run_job(const JobSpec& spec, const Clock& clock);

}  // namespace commrig::cli::run
