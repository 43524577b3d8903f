// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "base/result.h"

namespace commrig::operators {

// c[m x n] = a[m x k] x b[k x n], row-major, packed, fp32 throughout: products and sums are fp32,
// in any order. Runs on the calling thread alone, as a kernel on one accelerator would. The arrays
// must not overlap; all of m, k, n at least 1. Fails with kSystemCall when the library refuses.
Status matmul(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
              std::size_t n);

}  // namespace commrig::operators
