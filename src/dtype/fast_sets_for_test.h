// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <vector>

#include "dtype/kernels.h"

namespace commrig::dtype {

// For tests only: the sets that run here, but the scalar one, which is what they are compared with.
inline std::vector<const KernelSet*> fast_sets() {
  std::vector<const KernelSet*> sets;
  for (const KernelSet& set : kernel_sets()) {
    if (set.runs_here() && set.reduce != &kScalarReduce) sets.push_back(&set);
  }
  return sets;
}

}  // namespace commrig::dtype
