// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coll/plan.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"

namespace commrig::cli::bench {

// What can be measured. Sizes and bus bandwidths are those of nccl-tests (doc/PERFORMANCE.md
// there): the bus bandwidth is what each link between the ranks would have to carry at least.
struct Operation {
  std::string_view name;
  std::optional<coll::Collective> collective;  // none: each rank sends to the next one
  bool blocks;                                 // the size is that of a block for each rank
  double (*bus_factor)(double ranks);          // bus bandwidth / (size / time)
};

std::span<const Operation> all_operations();

// By name, with - or _. Otherwise kBadArgument with all names.
Result<const Operation*> find_operation(std::string_view option, std::string_view text);

// One line of the table: what all ranks do, again and again.
struct Load {
  const Operation* operation = nullptr;
  int ranks = 1;
  std::size_t count = 0;  // of a block, where there are several
  dtype::Dtype dtype = dtype::Dtype::kFp32;
  dtype::ReduceOp op = dtype::ReduceOp::kSum;
  int root = 0;
  bool in_place = false;

  std::size_t element_bytes() const { return dtype::size_of(dtype); }
  bool combines() const {
    return operation->collective && coll::has_arithmetic(*operation->collective);
  }
  bool rooted() const { return operation->collective && coll::has_root(*operation->collective); }
  // As nccl-tests counts it.
  std::size_t size() const;
  // What the call is told; not for messages.
  coll::Request request() const;
  std::size_t input_bytes(int rank) const;
  std::size_t output_bytes(int rank) const;
};

// The operation with so many bytes or less; count 0 if not even one element a rank is so small.
Load with_size(Load load, std::size_t bytes);

}  // namespace commrig::cli::bench
