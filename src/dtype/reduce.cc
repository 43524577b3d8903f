// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/reduce.h"

#include <cstdint>

#include <fmt/format.h>

#include "dtype/buffers.h"
#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

// Whether no buffer has anything that check_buffers() would refuse. Small sums take no longer than
// a dozen checks that each can tell what is wrong.
bool buffers_fit(Dtype dtype, std::span<const void* const> sources, const void* target,
                 std::size_t count) {
  const DtypeInfo& row = info(dtype);
  const auto bytes = static_cast<std::uintptr_t>(count) * row.bytes;
  const auto output = reinterpret_cast<std::uintptr_t>(target);
  std::uintptr_t all = output;
  bool fit = target != nullptr;
  for (const void* source : sources) {
    const auto input = reinterpret_cast<std::uintptr_t>(source);
    all |= input;
    // A distance below zero wraps round and is large in the same way.
    const bool apart = input - output >= bytes && output - input >= bytes;
    fit &= source != nullptr && (input == output || apart);
  }
  return fit && (all & (row.alignment - 1)) == 0;
}

Status check_buffers(Dtype dtype, std::span<const void* const> sources, const void* target,
                     std::size_t count) {
  COMMRIG_TRY(check_buffer(target, dtype, "the target"));
  const std::size_t bytes = count * size_of(dtype);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    COMMRIG_TRY(check_buffer(sources[i], dtype, "source", static_cast<int>(i)));
    if (sources[i] != target && overlap(sources[i], bytes, target, bytes)) {
      return Error::make(Code::kBadArgument,
                         fmt::format("the target at {} overlaps source {} at {} in part ({} {} of "
                                     "each): it must be the source itself or apart from it",
                                     target, i, sources[i], count, info(dtype).name));
    }
  }
  return ok();
}

}  // namespace

Result<ReduceOp> parse_reduce_op(std::string_view name) {
  for (const ReduceOpInfo& row : kReduceOps) {
    if (row.name == name) return row.op;
  }
  return Error::make(Code::kUnknownReduceOp,
                     fmt::format("'{}' is no reduction; known are sum prod max min", name));
}

Status reduce(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* target,
              std::size_t count, Stores stores) {
  const std::string_view op_name = name(op);
  if (!info(dtype).has_arithmetic) {
    return Error::make(Code::kNoArithmetic,
                       fmt::format("{} of {} is refused: the type is known by its size only",
                                   op_name, info(dtype).name));
  }
  if (sources.empty()) {
    return Error::make(Code::kBadArgument,
                       fmt::format("{} of {} without a source", op_name, info(dtype).name));
  }
  const Result<const KernelSet*>& kernels = chosen_kernels();
  if (!kernels) return kernels.error();
  if (count == 0) return ok();
  if (!buffers_fit(dtype, sources, target, count)) [[unlikely]] {
    COMMRIG_TRY(check_buffers(dtype, sources, target, count));
  }
  find_kernel(*kernels.value(), dtype, op)(sources, target, count, stores);
  return ok();
}

}  // namespace commrig::dtype
