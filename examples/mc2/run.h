// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/events.h"
#include "base/result.h"
#include "dtype/dtype.h"
#include "examples/mc2/compare.h"
#include "examples/mc2/tiled_matmul.h"

namespace commrig::operators {

struct RunOptions {
  std::string op = "all-gather-matmul";  // see all_operators
  int ranks = 4;
  int devices = 0;  // rank r runs on device r modulo devices, on a stream of its own; 0: one a rank
  MatmulShape shape{256, 512, 256};
  dtype::Dtype dtype = dtype::Dtype::kFp16;
  std::string layout = "upstream-64";
  std::size_t tile_rows = 0;  // 0: an eighth of the rows that are cut, at least 1
  std::uint64_t seed = 1;     // of the inputs
  bool commit_at_end = false;
  Observer* observer = nullptr;  // sees every event of the run; may be null
};

struct RunReport {
  std::size_t tile_rows = 0;
  std::size_t tiles = 0;  // of each rank
  WorstElement worst;
  std::uint64_t messages = 0;
  std::uint64_t turns = 0;
  double seconds = 0;  // from the first launch to the end of the last kernel
  double overlap = 1;  // see overlap_of
};

// Runs a fused operator on simulated devices with inputs from the seed, and checks every element of
// every rank's output against the fp64 product. Fails with what the group's server found, with a
// kernel's error, with kWrongResult when an element is outside its bound or bits that must be the
// same on two ranks differ, with kBadArgument for an operator, ranks, shape or type out of range.
Result<RunReport> run_operator(const RunOptions& options);

}  // namespace commrig::operators
