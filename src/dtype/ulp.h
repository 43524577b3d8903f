// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "dtype/dtype.h"

namespace commrig::dtype {

// The distance between neighbouring values of `dtype` at |value|, for error bounds: 2^(e - m) for a
// value in [2^e, 2^(e+1)) and m mantissa bits, never below that of the subnormals, and beyond the
// largest finite value (infinity included) that of its binade. 1 for integers, NaN for a NaN.
// `value` need not be representable. Thread-safe. Types without arithmetic fail a COMMRIG_CHECK.
double ulp(Dtype dtype, double value);

}  // namespace commrig::dtype
