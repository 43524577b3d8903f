// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "dtype/dtype.h"
#include "dtype/stores.h"

namespace commrig::dtype {

enum class ReduceOp : std::uint8_t { kSum, kProd, kMax, kMin };

struct ReduceOpInfo {
  ReduceOp op;
  std::string_view name;
};

inline constexpr std::array kReduceOps = {
    ReduceOpInfo{ReduceOp::kSum, "sum"},
    ReduceOpInfo{ReduceOp::kProd, "prod"},
    ReduceOpInfo{ReduceOp::kMax, "max"},
    ReduceOpInfo{ReduceOp::kMin, "min"},
};

constexpr std::size_t index(ReduceOp op) {
  return static_cast<std::size_t>(op);
}

// A number that is no enumerator is our own bug and fails a COMMRIG_CHECK.
constexpr std::string_view name(ReduceOp op) {
  COMMRIG_CHECK(index(op) < kReduceOps.size(), "no reduction has this number");
  return kReduceOps[index(op)].name;
}

// "sum", "prod", "max", "min"; otherwise kUnknownReduceOp. Thread-safe.
Result<ReduceOp> parse_reduce_op(std::string_view name);

// target[i] = ((sources[0][i] op sources[1][i]) op sources[2][i]) ... for `count` elements of
// `dtype`: a left fold in the order given, which is the order of the ranks. One source is allowed.
//   integers             exact modulo 2^bits
//   fp16, bf16, fp8      every step in fp32, the result rounded once (format.h)
//   fp32, fp64           every step in the type itself; IEEE 754 nearest-even, no fused steps
//   max, min of floats   a NaN is ignored when another value exists; -0 is below +0
// A NaN result has the canonical bits, even if there is only one source.
//
// Every buffer holds count * size_of(dtype) bytes, starts at a multiple of the type's alignment and
// stays the caller's. The target may be one of the sources, but not overlap one in part. Nothing is
// allocated on success. Thread-safe as long as nobody else writes these buffers; the floating-point
// environment must be the default one. `stores` says how the target is written, see stores_for().
// Errors: kNoArithmetic names type and op; kBadArgument (no source, a null buffer, an overlap) and
// kMisaligned name the buffer; kBadArgument also if COMMRIG_KERNELS names no kernels of this
// processor. Then the target is untouched. With `count` 0 buffers aren't looked at.
Status reduce(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* target,
              std::size_t count, Stores stores = Stores::kOrdinary);

}  // namespace commrig::dtype
