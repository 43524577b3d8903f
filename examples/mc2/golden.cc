// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace commrig::operators {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
};

Format format_of(GoldenType type) {
  switch (type) {
    case GoldenType::kFp16:
      return {5, 10};
    case GoldenType::kBf16:
      return {8, 7};
    case GoldenType::kFp32:
      return {8, 23};
  }
  return {};
}

int bias_of(const Format& format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

// Sign, exponent and fraction, read as the formats define them.
double decode(const Format& format, std::uint32_t bits) {
  const auto fraction = static_cast<int>(bits & ((1U << format.fraction_bits) - 1));
  const auto exponent =
      static_cast<int>((bits >> format.fraction_bits) & ((1U << format.exponent_bits) - 1));
  const double sign = (bits >> (format.fraction_bits + format.exponent_bits)) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const int implicit = exponent != 0 ? 1 << format.fraction_bits : 0;
  const int scale = std::max(exponent, 1) - bias_of(format) - format.fraction_bits;
  return sign * std::ldexp(implicit + fraction, scale);
}

template <class Bits>
std::uint32_t bits_at(const void* elements, std::size_t index) {
  Bits bits;
  std::memcpy(&bits, static_cast<const std::byte*>(elements) + index * sizeof(Bits), sizeof(Bits));
  return bits;
}

// The reference takes most of a checked run's time, so it uses the vectors that the processor has,
// where the compiler can choose them at run time. The bits are the same.
#if defined(__x86_64__) && !defined(COMMRIG_SANITIZED)
#define COMMRIG_BEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define COMMRIG_BEST_VECTORS
#endif

// value += factor x row, magnitude += |factor x row|.
COMMRIG_BEST_VECTORS void add_scaled(double factor, const double* __restrict row,
                                     std::size_t columns, double* __restrict value,
                                     double* __restrict magnitude) {
  for (std::size_t column = 0; column < columns; ++column) {
    const double product = factor * row[column];
    value[column] += product;
    magnitude[column] += std::abs(product);
  }
}

}  // namespace

double golden_value(GoldenType type, const void* elements, std::size_t index) {
  const std::uint32_t bits = type == GoldenType::kFp32 ? bits_at<std::uint32_t>(elements, index)
                                                       : bits_at<std::uint16_t>(elements, index);
  return decode(format_of(type), bits);
}

double golden_ulp(GoldenType type, double value) {
  const Format format = format_of(type);
  const int least = 1 - bias_of(format);
  const int exponent =
      value == 0 || !std::isfinite(value) ? least : std::max(least, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.fraction_bits);
}

std::vector<double> golden_values(GoldenType type, const void* elements, std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = golden_value(type, elements, i);
  return out;
}

// A row of b serves all rows of a before the next is read.
GoldenMatrix golden_matmul(GoldenType type, const void* a, std::span<const double> b,
                           const GoldenShape& shape) {
  const auto [rows, inner, columns] = shape;
  const std::vector<double> left = golden_values(type, a, rows * inner);
  GoldenMatrix out{std::vector<double>(rows * columns), std::vector<double>(rows * columns)};
  for (std::size_t i = 0; i < inner; ++i) {
    for (std::size_t row = 0; row < rows; ++row) {
      add_scaled(left[row * inner + i], &b[i * columns], columns, &out.value[row * columns],
                 &out.magnitude[row * columns]);
    }
  }
  return out;
}

double golden_bound(GoldenType type, std::size_t inner, double value, double magnitude) {
  const auto count = static_cast<double>(inner);
  return std::min(count, 16 * std::sqrt(count)) * 0x1p-24 * magnitude + golden_ulp(type, value);
}

}  // namespace commrig::operators
