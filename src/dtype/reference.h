// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dtype/dtype.h"

namespace commrig::dtype {

// For tests only: what the numbers should be, by other means than the code under test. Values are
// decoded with ldexp from bit fields; rounding looks for the neighbours of a number among all
// values of the type and compares with their midpoint, which a long double holds exactly.
class Reference {
 public:
  explicit Reference(Dtype dtype) : dtype_(dtype) {
    switch (dtype) {
      case Dtype::kFp16:
        fill(5, 10, true);
        break;
      case Dtype::kBf16:
        fill(8, 7, true);
        break;
      case Dtype::kFp8E4m3fn:
        fill(4, 3, false);
        break;
      case Dtype::kFp8E5m2:
        fill(5, 2, true);
        break;
      default:
        COMMRIG_CHECK(false, "only the 8- and 16-bit floating-point types have a reference");
    }
  }

  Dtype dtype() const { return dtype_; }
  std::uint32_t sign() const { return sign_; }
  std::uint32_t nan() const { return nan_; }
  // What a magnitude too large becomes.
  std::uint32_t overflow() const { return infinity_ != 0 ? infinity_ : max_finite(); }
  std::uint32_t max_finite() const { return static_cast<std::uint32_t>(values_.size()) - 2; }

  bool is_nan(std::uint32_t bits) const {
    return (bits & ~sign_) > (infinity_ != 0 ? infinity_ : max_finite());
  }

  // Of any bits; NaN where they are one.
  double decode(std::uint32_t bits) const {
    const std::uint32_t magnitude = bits & ~sign_;
    const double value = is_nan(bits)               ? std::numeric_limits<double>::quiet_NaN()
                         : magnitude > max_finite() ? std::numeric_limits<double>::infinity()
                                                    : values_[magnitude];
    return (bits & sign_) != 0 ? -value : value;
  }

  // The nearest value, the even one of two.
  std::uint32_t encode(long double value) const {
    if (std::isnan(value)) return nan_;
    const std::uint32_t sign = std::signbit(value) ? sign_ : 0;
    const long double magnitude = std::fabs(value);
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
    if (above == values_.end()) return sign | overflow();
    const auto upper = static_cast<std::uint32_t>(above - values_.begin());
    const std::uint32_t lower = upper - 1;
    const long double middle = midpoint(lower);
    const bool up = magnitude > middle || (magnitude == middle && upper % 2 == 0);
    const std::uint32_t nearest = up ? upper : lower;
    return sign | (nearest > max_finite() ? overflow() : nearest);
  }

  // Halfway from the value with these bits to the next; for max_finite() to the value that would
  // come next if the exponent had no end.
  double midpoint(std::uint32_t magnitude) const {
    return (values_[magnitude] + values_[magnitude + 1]) / 2;
  }

 private:
  void fill(int exponent_bits, int mantissa_bits, bool ieee) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const std::uint32_t top = ((1U << exponent_bits) - 1) << mantissa_bits;
    sign_ = 1U << (exponent_bits + mantissa_bits);
    infinity_ = ieee ? top : 0;
    nan_ = ieee ? top | 1U << (mantissa_bits - 1) : sign_ - 1;
    const std::uint32_t last = ieee ? infinity_ : nan_;
    for (std::uint32_t bits = 0; bits <= last; ++bits) {
      const int exponent = static_cast<int>(bits >> mantissa_bits);
      const double fraction = std::ldexp(bits % (1U << mantissa_bits), -mantissa_bits);
      values_.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                      : std::ldexp(1 + fraction, exponent - bias));
    }
  }

  Dtype dtype_;
  std::uint32_t sign_ = 0;
  std::uint32_t infinity_ = 0;  // 0: the type has none
  std::uint32_t nan_ = 0;
  std::vector<double> values_;  // of the finite magnitudes, and the one that would come next
};

// The references of the 8- and 16-bit floating-point types, made once.
inline const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {Reference(Dtype::kFp16), Reference(Dtype::kBf16),
                                             Reference(Dtype::kFp8E4m3fn),
                                             Reference(Dtype::kFp8E5m2)};
  return all;
}

inline const Reference& reference(Dtype dtype) {
  return *std::find_if(references().begin(), references().end(),
                       [&](const Reference& row) { return row.dtype() == dtype; });
}

}  // namespace commrig::dtype
