// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace commrig::cli::run {

// "NAME=value" each, as environ has them.
using Variables = std::vector<std::string>;

// Sets a variable, or takes it away.
void set(Variables& variables, const std::string& name, const std::string& value);
void unset(Variables& variables, const std::string& name);

// What all ranks of a job have alike.
struct JobPlace {
  int ranks = 1;
  std::uint16_t master_port = 0;  // for what the program listens on by itself, as torch's store
  std::uint16_t port = 0;         // where the ranks of commrig meet
  std::uint64_t seed = 0;
  std::optional<int> devices{};  // as the environment has it by default
};

// The environment of one rank: that of this process with the variables by which programs of
// torchrun and of Open MPI, and commrig itself, know their rank. What an outer launcher has said is
// overwritten or taken away.
Variables rank_environment(Variables variables, const JobPlace& job, int rank);

// Puts folders in front of LD_LIBRARY_PATH.
void add_library_folders(Variables& variables, const std::vector<std::string>& folders);

}  // namespace commrig::cli::run
