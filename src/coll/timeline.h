// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <vector>

#include "coll/verifier.h"

namespace commrig::coll {

// A step of a rank.
struct StepId {
  int rank;
  std::size_t step;
};

// A signal and a wait for it, or a message.
struct Arrow {
  StepId from;
  StepId to;
  bool message;
};

// When each step is done if all steps take one unit of time and each is done as early as it can.
struct Timeline {
  std::vector<std::vector<std::size_t>> rows;  // of each rank, of each step that can be done
  std::vector<Arrow> arrows;
  std::size_t end = 0;  // the first row without a step
};
Timeline lay_out(const PlanSet& set);

}  // namespace commrig::coll
