// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <span>

#include "base/events.h"
#include "base/result.h"
#include "examples/mc2/golden.h"

namespace commrig::operators {

// Where the output was furthest from the reference, measured against its bound.
struct WorstElement {
  int rank = 0;
  std::size_t row = 0;  // of the rank's output
  std::size_t column = 0;
  double expected = 0;
  double found = 0;
  double error = 0;
  double bound = 0;
  bool inside() const { return error <= bound; }  // false for a NaN, too
};

// The part of the reference that a rank's output must equal.
struct RankOutput {
  const void* elements;
  std::size_t first_row;  // of the reference
  std::size_t rows;
};

struct Comparison {
  GoldenType type;
  std::size_t inner;    // of the whole product
  std::size_t columns;  // of the reference and the outputs
};

// Compares each rank's output with the reference. Returns the worst element of all; fails with
// kWrongResult, which names it, when it is outside its bound, or the first element whose bits are
// not those that a rank before has at the same place of the reference.
Result<WorstElement> compare_outputs(const Comparison& comparison, const GoldenMatrix& expected,
                                     std::span<const RankOutput> outputs);

// The share of tiles, the last one excepted, whose turn began before the product of the next tile
// had ended on every rank, as a trace shows it; 1 for a single tile.
double overlap_of(std::span<const Event> events, std::size_t tiles);

}  // namespace commrig::operators
