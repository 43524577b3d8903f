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

std::vector<double> values(GoldenType type, const void* elements, std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = golden_value(type, elements, i);
  return out;
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

GoldenMatrix golden_matmul(GoldenType type, const void* a, const void* b, std::size_t rows,
                           std::size_t inner, std::size_t columns) {
  const std::vector<double> left = values(type, a, rows * inner);
  const std::vector<double> right = values(type, b, inner * columns);
  GoldenMatrix out{std::vector<double>(rows * columns), std::vector<double>(rows * columns)};
  for (std::size_t row = 0; row < rows; ++row) {
    double* const value = &out.value[row * columns];
    double* const magnitude = &out.magnitude[row * columns];
    for (std::size_t i = 0; i < inner; ++i) {
      const double factor = left[row * inner + i];
      const double* const right_row = &right[i * columns];
      for (std::size_t column = 0; column < columns; ++column) {
        const double product = factor * right_row[column];
        value[column] += product;
        magnitude[column] += std::abs(product);
      }
    }
  }
  return out;
}

double golden_bound(GoldenType type, std::size_t inner, double value, double magnitude) {
  return static_cast<double>(inner) * 0x1p-24 * magnitude + golden_ulp(type, value);
}

}  // namespace commrig::operators
