// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "dtype/dtype.h"

namespace commrig::dtype {

// kBadArgument or kMisaligned if `buffer` can't hold elements of `dtype`; the message calls it
// `name` and, where `number` isn't negative, its number.
Status check_buffer(const void* buffer, Dtype dtype, std::string_view name, int number = -1);

// Whether [a, a + a_bytes) and [b, b + b_bytes) share a byte.
bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes);

}  // namespace commrig::dtype
