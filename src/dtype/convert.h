// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "base/result.h"
#include "dtype/dtype.h"

namespace commrig::dtype {

// Converts `count` elements: floats to floats and integers to floats, each rounded at most once, to
// nearest and ties to even, by the rules of format.h (overflow, one canonical NaN, also from a type
// to itself). Where the target holds the source's value it is exact. Single values are converted by
// widen() and narrow() of format.h.
//
// The buffers hold `count` elements of their type, are aligned to it and stay the caller's. Source
// and target may be the same buffer if both types have the same size; otherwise they must not
// overlap. Nothing is allocated on success. Thread-safe as long as nobody else writes these
// buffers. Errors: kNoArithmetic names both types (any conversion to an integer, and types known by
// size only); kBadArgument (a null buffer, an overlap) and kMisaligned name the buffer;
// kBadArgument also if COMMRIG_KERNELS names no kernels of this processor. Then the target is
// untouched. With `count` 0 buffers aren't looked at.
Status convert(Dtype from, const void* source, Dtype to, void* target, std::size_t count);

}  // namespace commrig::dtype
