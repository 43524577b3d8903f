// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace commrig::operators {

// The element types that the reference knows. It reads their bits by itself, with nothing of the
// library that it is there to check.
enum class GoldenType : std::uint8_t { kFp16, kBf16, kFp32 };

// The value of element `index` of an array of that type, exactly.
double golden_value(GoldenType type, const void* elements, std::size_t index);

// The distance between neighbours of `value` in the type, at least that of its subnormal numbers.
double golden_ulp(GoldenType type, double value);

struct GoldenMatrix {
  std::vector<double> value;      // rows x columns
  std::vector<double> magnitude;  // the sum of |a b| of each element
};

// All `count` elements of an array.
std::vector<double> golden_values(GoldenType type, const void* elements, std::size_t count);

struct GoldenShape {
  std::size_t rows = 0;
  std::size_t inner = 0;
  std::size_t columns = 0;
};

// The naive product of a[rows x inner] and b[inner x columns], row-major, in fp64; b as values.
GoldenMatrix golden_matmul(GoldenType type, const void* a, std::span<const double> b,
                           const GoldenShape& shape);

// How far an element may be off: inner x 2^-24 x sum|a b|, which bounds any order of fp32 products
// and sums to first order (N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
// edition, section 3.1), and one ulp of the output type for its rounding. That bound grows faster
// than the results do, until it would pass anything; roundings that do not conspire stay within a
// small multiple of sqrt(inner) (N. Higham and T. Mary, "A new approach to probabilistic rounding
// error analysis", 2019), so from 256 on inner counts as 16 x sqrt(inner).
double golden_bound(GoldenType type, std::size_t inner, double value, double magnitude);

}  // namespace commrig::operators
