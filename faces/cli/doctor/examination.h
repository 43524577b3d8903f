// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "faces/cli/doctor/library_search.h"

namespace commrig::cli::doctor {

// Where a program's libraries will be looked for under commrig run.
struct Surroundings {
  Folders own;     // of this installation, which stand in for the libraries of vendors
  Folders given;   // LD_LIBRARY_PATH
  Folders system;  // as system_folders() has them
};

struct Problem {
  std::string what;
  std::string change;  // what to do
};

// What can be said of a program without running it.
struct Examination {
  std::vector<std::string> facts;  // what it is, and which libraries it takes from where
  std::vector<Problem> problems;   // each keeps it from running on commrig
};

// kBadArgument if there is no such file, or it is no program. Runs nothing of it.
Result<Examination> examine(const std::string& program, const Surroundings& surroundings);

}  // namespace commrig::cli::doctor
