// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "comm/communicator.h"
#include "faces/cli/bench/rank_bench.h"

namespace commrig::cli::bench {

// What stands on the command line, before it is understood.
struct BenchArguments {
  std::string operation = "all-reduce";
  std::string ranks = "2";
  std::string processes = "1";
  std::string link = "shm";
  std::string least = "8";
  std::string most = "128M";
  std::string factor = "2";
  std::string iterations = "20";
  std::string warm_up = "5";
  std::string repeats = "3";
  std::string dtype = "fp32";
  std::string op = "sum";
  std::string root = "0";
  std::string algorithms{};
  bool in_place = false;
  bool out_of_place = false;
  bool strict = false;
  bool no_shared_memory = false;
  bool limit = false;
  std::string json{};
  std::string plot{};
};

struct BenchOptions {
  std::vector<Load> loads;  // out of place, from small to large
  bool in_place = true;
  bool out_of_place = true;
  Effort effort;
  int processes = 1;  // that the ranks are to be started in
  comm::CommunicatorOptions communicator;
  std::string algorithms;  // as it was given
  bool limit = false;
  std::string json{};
  std::string plot{};
  std::string note;  // what was left out, or empty
};

// "8", "64K", "128M", "2GiB": bytes.
Result<std::size_t> parse_size(std::string_view option, std::string_view text);

// `memory_bytes`: what this machine has; buffers that need more are refused.
Result<BenchOptions> understand(const BenchArguments& arguments, std::size_t memory_bytes);

}  // namespace commrig::cli::bench
