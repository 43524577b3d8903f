// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/events.h"
#include "base/result.h"
#include "dtype/dtype.h"
#include "examples/mc2/all_gather_matmul.h"

namespace commrig::operators {

struct GoldenMatrix;  // golden.h

struct RunOptions {
  int ranks = 4;
  MatmulShape shape{256, 512, 256};
  dtype::Dtype dtype = dtype::Dtype::kFp16;
  std::string layout = "upstream-64";
  std::size_t tile_rows = 0;  // 0: an eighth of m, at least 1
  std::uint64_t seed = 1;     // of the inputs
  bool commit_at_end = false;
  Observer* observer = nullptr;  // sees every event of the run; may be null
};

// Where the output was furthest from the reference, measured against its bound.
struct WorstElement {
  int rank = 0;
  std::size_t row = 0;
  std::size_t column = 0;
  double expected = 0;
  double found = 0;
  double error = 0;
  double bound = 0;
  bool inside() const { return error <= bound; }  // false for a NaN, too
};

struct RunReport {
  std::size_t tile_rows = 0;
  std::size_t tiles = 0;  // of each rank
  WorstElement worst;
  std::uint64_t messages = 0;
  std::uint64_t turns = 0;
  double seconds = 0;  // from the first launch to the end of the last kernel
  // The share of tiles, the last one excepted, whose turn began before the product of the next tile
  // had ended on every rank. 1 for a single tile.
  double overlap = 1;
};

// Runs the operator on `ranks` simulated devices with inputs from the seed, and checks every
// element of every rank's output against the fp64 product. Fails with what the group's server
// found, with a kernel's error, with kWrongResult when an element is outside its bound or the
// ranks' bits differ, with kBadArgument for ranks, shape or type out of range.
Result<RunReport> run_all_gather_matmul(const RunOptions& options);

// The overlap that a trace shows, see RunReport.
double overlap_of(std::span<const Event> events, std::size_t tiles);

// Compares each rank's output, outputs[rank], with `expected`, which is golden_matmul of x1 of all
// ranks. Returns the worst element of all; fails with kWrongResult, which names it, when it is
// outside its bound, or the first element whose bits are not those of rank 0.
Result<WorstElement> compare_outputs(const RunOptions& options, const GoldenMatrix& expected,
                                     std::span<const void* const> outputs);

}  // namespace commrig::operators
