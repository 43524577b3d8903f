// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/kernels.h"

#include <algorithm>

namespace commrig::dtype {
namespace {

constexpr KernelSet kSets[] = {
    {"scalar", [] { return true; }, &kScalarReduce, &kScalarConvert},
};

}  // namespace

std::span<const KernelSet> kernel_sets() {
  return kSets;
}

const KernelSet& chosen_kernels() {
  static const KernelSet& chosen = *std::find_if(
      std::begin(kSets), std::end(kSets) - 1, [](const KernelSet& set) { return set.runs_here(); });
  return chosen;
}

ReduceKernel find_kernel(const KernelSet& set, Dtype dtype, ReduceOp op) {
  const ReduceKernel kernel = (*set.reduce)[index(dtype)][index(op)];
  return kernel != nullptr ? kernel : kScalarReduce[index(dtype)][index(op)];
}

ConvertKernel find_kernel(const KernelSet& set, Dtype from, Dtype to) {
  const ConvertKernel kernel = (*set.convert)[index(from)][index(to)];
  return kernel != nullptr ? kernel : kScalarConvert[index(from)][index(to)];
}

}  // namespace commrig::dtype
