// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "dtype/stores.h"

namespace commrig::dtype {

// The loops behind reduce() and convert(), after all arguments were checked. Scalar loops are the
// definition; a set for some instruction set must give the same bits in every element, for every
// length and start. They keep no state: any thread may call them.

// At least one source, each and the target `count` elements long; the target may be one of the
// sources.
using ReduceKernel = void (*)(std::span<const void* const> sources, void* target, std::size_t count,
                              Stores stores);
// Target and source may be the same buffer if their elements have the same size.
using ConvertKernel = void (*)(const void* source, void* target, std::size_t count);
// As memcpy, with streaming stores where these are aligned.
using CopyKernel = void (*)(const void* source, void* target, std::size_t bytes);

// Indexed by index(dtype) and the number of the op; null where there is no such kernel.
using ReduceTable = std::array<std::array<ReduceKernel, kReduceOps.size()>, kDtypes.size()>;
// Indexed by index(from) and index(to); null likewise.
using ConvertTable = std::array<std::array<ConvertKernel, kDtypes.size()>, kDtypes.size()>;

// One set of kernels. What it leaves null is done by the scalar set, and copies by memcpy.
struct KernelSet {
  std::string_view name;
  bool (*runs_here)();  // whether this processor has the instructions
  const ReduceTable* reduce;
  const ConvertTable* convert;
  CopyKernel stream_copy;
};

extern const ReduceTable kScalarReduce;
extern const ConvertTable kScalarConvert;

// Every set that was compiled in, best first; the last is the scalar one.
std::span<const KernelSet> kernel_sets();

// The set of that name, which must run here, or the first that does if the name is empty. Otherwise
// kBadArgument, with the names that could have been given. Thread-safe.
Result<const KernelSet*> choose_kernels(std::string_view name);

// What COMMRIG_KERNELS in the environment names, or else the first set that runs here; decided at
// the first call. Thread-safe.
const Result<const KernelSet*>& chosen_kernels();

// The kernel of `set` or else the scalar one; null: refused.
ReduceKernel find_kernel(const KernelSet& set, Dtype dtype, ReduceOp op);
ConvertKernel find_kernel(const KernelSet& set, Dtype from, Dtype to);

}  // namespace commrig::dtype
