// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "examples/mc2/tiled_matmul.h"

namespace commrig::operators {

// What the harness must know of a fused matrix product to run and check it. One row an operator, in
// operators.cc; command line, tests and demo go through the rows.
struct OperatorInfo {
  const char* name;
  const char* summary;  // for people, one sentence
  Status (*kernel)(device::KernelContext& kernel, const MatmulArgs& args);
  // Whether the ranks' inner dimensions are parts of one long one, so that x2 differs from rank to
  // rank and their products are summed; otherwise x2 is the same on all ranks, and their rows are
  // parts of one long matrix.
  bool splits_inner;
  // Of one rank, for m rows of x1 on each of `ranks` ranks.
  std::size_t (*output_rows)(std::size_t m, std::size_t ranks);
  std::size_t (*tiled_rows)(std::size_t m, std::size_t ranks);  // that are cut into tiles
  std::size_t (*first_row)(std::size_t m, std::size_t ranks, std::size_t rank);  // of its output
  std::size_t (*scratch)(const MatmulShape& shape, std::size_t ranks);           // elements of fp32
};

std::span<const OperatorInfo> all_operators();

// Null when there is none of this name.
const OperatorInfo* find_operator(std::string_view name);

}  // namespace commrig::operators
