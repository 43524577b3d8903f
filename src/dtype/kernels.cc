// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/kernels.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace commrig::dtype {
namespace {

std::string names_that_run() {
  std::string names;
  for (const KernelSet& set : kernel_sets()) {
    if (set.runs_here()) names += fmt::format(" {}", set.name);
  }
  return names;
}

}  // namespace

Result<const KernelSet*> choose_kernels(std::string_view name) {
  for (const KernelSet& set : kernel_sets()) {
    if (name.empty() ? set.runs_here() : set.name == name) {
      if (set.runs_here()) return &set;
      return Error::make(Code::kBadArgument,
                         fmt::format("COMMRIG_KERNELS={}: this processor lacks the instructions; "
                                     "it can use{}",
                                     name, names_that_run()));
    }
  }
  return Error::make(Code::kBadArgument,
                     fmt::format("COMMRIG_KERNELS={}: there are no such kernels; this processor "
                                 "can use{}",
                                 name, names_that_run()));
}

const Result<const KernelSet*>& chosen_kernels() {
  static const Result<const KernelSet*> kChosen = [] {
    const char* name = std::getenv("COMMRIG_KERNELS");  // NOLINT(concurrency-mt-unsafe): see rng.cc
    return choose_kernels(name != nullptr ? name : "");
  }();
  return kChosen;
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
