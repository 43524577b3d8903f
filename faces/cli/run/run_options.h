// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bootstrap/environment.h"

namespace commrig::cli::run {

// What stands on the command line, before it is understood.
struct RunArguments {
  std::string ranks{};
  std::string devices{};
  std::string timeout{};
  bool tag = false;
  bool no_tag = false;
  bool quiet = false;
  std::vector<std::string> program;
};

struct RunOptions {
  int ranks = 1;
  // An outer launcher has started this process as one of its ranks: nothing is to be started.
  bool inside = false;
  std::optional<int> devices{};
  Nanos timeout = kForever;
  bool tags = false;   // in front of each line
  bool quiet = false;  // no lines of commrig's own, but for errors
  std::vector<std::string> program;
};

// The command line of a run, after the name of the command: the options, and the program with its
// arguments, which begins behind "--" or with the first word that is no option.
struct Split {
  std::vector<std::string> options;
  std::vector<std::string> program;
};
Split split_command(const std::vector<std::string>& words);

// "30s", "1.5m", "2h", "250ms", "30": more than 0.
Result<Nanos> parse_duration(std::string_view option, std::string_view text);

// Fails with kBadArgument and kLaunchEnvironment.
Result<RunOptions> understand(const RunArguments& arguments, bootstrap::Environment environment);

}  // namespace commrig::cli::run
