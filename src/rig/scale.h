// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "dtype/dtype.h"

namespace commrig::rig {

// What is done to elements around a sum. Both are done in the type itself for integers, fp32 and
// fp64, and in fp32 for smaller floats, as is the sum between them: so these are rounded to their
// type once, at the end.
enum class Scaling : std::uint8_t {
  kNone,
  kAverage,   // the sum is divided by the number of ranks; integers are truncated towards zero
  kMultiply,  // each input is multiplied by its rank's scalar before; integers modulo 2^bits
};

struct Scale {
  Scaling scaling = Scaling::kNone;
  // Of kMultiply, one element of the call's type: at this address when the work is done, or here.
  const void* scalar_at = nullptr;
  std::array<std::byte, 8> scalar{};
};

// The type in which sums of `dtype` are scaled.
dtype::Dtype scaling_type(dtype::Dtype dtype);

// target[i] = source[i] * scalar, with source and scalar of type `dtype`, the target of its
// scaling type. Source and target may be the same if the types are.
Status multiply(dtype::Dtype dtype, const void* source, const void* scalar, void* target,
                std::size_t count);

// target[i] = sum[i] / divisor, with the sum of the scaling type, the target of type `dtype`; the
// sum is used up. Divisor 1 only converts.
Status divide(dtype::Dtype dtype, void* sum, std::int64_t divisor, void* target, std::size_t count);

// target[i] = source[i], of type `dtype`, in its scaling type.
Status widen(dtype::Dtype dtype, const void* source, void* target, std::size_t count);

}  // namespace commrig::rig
