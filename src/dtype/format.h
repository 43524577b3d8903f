// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace commrig::dtype {

// The definition of our floating-point numerics: which bits a value has in each format and to which
// bits a value is rounded. Everything faster must give the same bits.
//
// A format is one sign bit, an exponent with a bias, and kMantissaBits below it (IEEE 754-2019
// section 3.4; OCP OFP8 revision 1.0 section 5 for the 8-bit ones). Read as integers, magnitudes
// (all bits but the sign) are in the order of their values: finite ones up to kMaxFinite, then
// infinity where there is one, then NaNs from kFirstNan on.
//   kOverflow  the magnitude that a value too large becomes, infinity included: infinity in
//              IEEE-like formats, 448 in E4M3, which has none (the saturating mode of OFP8)
//   kNan       the one NaN that we ever give as a result, whatever NaN came in: quiet, positive,
//              no payload
struct Fp16 {
  using Bits = std::uint16_t;
  static constexpr int kMantissaBits = 10;
  static constexpr int kBias = 15;
  static constexpr Bits kMaxFinite = 0x7BFF;  // 65504
  static constexpr Bits kOverflow = 0x7C00;
  static constexpr Bits kFirstNan = 0x7C01;
  static constexpr Bits kNan = 0x7E00;
};

struct Bf16 {
  using Bits = std::uint16_t;
  static constexpr int kMantissaBits = 7;
  static constexpr int kBias = 127;
  static constexpr Bits kMaxFinite = 0x7F7F;
  static constexpr Bits kOverflow = 0x7F80;
  static constexpr Bits kFirstNan = 0x7F81;
  static constexpr Bits kNan = 0x7FC0;
};

struct Fp8E4m3fn {
  using Bits = std::uint8_t;
  static constexpr int kMantissaBits = 3;
  static constexpr int kBias = 7;
  static constexpr Bits kMaxFinite = 0x7E;  // 448
  static constexpr Bits kOverflow = 0x7E;
  static constexpr Bits kFirstNan = 0x7F;
  static constexpr Bits kNan = 0x7F;
};

struct Fp8E5m2 {
  using Bits = std::uint8_t;
  static constexpr int kMantissaBits = 2;
  static constexpr int kBias = 15;
  static constexpr Bits kMaxFinite = 0x7B;  // 57344
  static constexpr Bits kOverflow = 0x7C;
  static constexpr Bits kFirstNan = 0x7D;
  static constexpr Bits kNan = 0x7E;
};

struct Fp32 {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  static constexpr Bits kMaxFinite = 0x7F7FFFFF;
  static constexpr Bits kOverflow = 0x7F800000;
  static constexpr Bits kFirstNan = 0x7F800001;
  static constexpr Bits kNan = 0x7FC00000;
};

struct Fp64 {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr Bits kMaxFinite = 0x7FEFFFFFFFFFFFFF;
  static constexpr Bits kOverflow = 0x7FF0000000000000;
  static constexpr Bits kFirstNan = 0x7FF0000000000001;
  static constexpr Bits kNan = 0x7FF8000000000000;
};

// The format of a C++ floating type.
template <class T>
using NativeFormat = std::conditional_t<std::is_same_v<T, double>, Fp64, Fp32>;

template <class F>
inline constexpr int kSignShift = std::numeric_limits<typename F::Bits>::digits - 1;

// `value`, or the canonical NaN instead of any NaN.
template <class T>
constexpr T canonical(T value) {
  return value != value ? std::bit_cast<T>(NativeFormat<T>::kNan) : value;
}

// The value of `bits` in one of the 8- and 16-bit formats: exact, and the canonical fp32 NaN for
// every NaN. Subnormals are a small integer times a power of two; no fp32 subnormal is an operand
// or a result but for bf16, which is moved as bits, so the processor's flush-to-zero mode doesn't
// matter.
template <class F>
constexpr float widen(typename F::Bits bits) {
  constexpr int kShift = Fp32::kMantissaBits - F::kMantissaBits;
  constexpr int kRebias = Fp32::kBias - F::kBias;
  const std::uint32_t all = bits;
  const std::uint32_t sign = (all >> kSignShift<F>) << kSignShift<Fp32>;
  const std::uint32_t magnitude = all & ((1U << kSignShift<F>)-1);
  std::uint32_t wide =
      (magnitude << kShift) + (static_cast<std::uint32_t>(kRebias) << Fp32::kMantissaBits);
  if (kRebias != 0) {
    constexpr auto kStep = std::bit_cast<float>(
        static_cast<std::uint32_t>(kRebias + 1 - F::kMantissaBits) << Fp32::kMantissaBits);
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * kStep;
    wide = magnitude < (1U << F::kMantissaBits) ? std::bit_cast<std::uint32_t>(subnormal) : wide;
    wide = magnitude > F::kMaxFinite ? Fp32::kOverflow : wide;
  }
  return std::bit_cast<float>(magnitude >= F::kFirstNan ? Fp32::kNan : sign | wide);
}

// `value` rounded once, to nearest and ties to even, to a format that is narrower than its type.
// Subnormal results are rounded at their own last place; a rounded magnitude above kMaxFinite gives
// kOverflow with the sign kept; a NaN gives kNan. Only integer arithmetic: neither rounding mode
// nor flush-to-zero matters.
template <class F, class T>
constexpr typename F::Bits narrow(T value) {
  using S = NativeFormat<T>;
  using Bits = typename S::Bits;
  static_assert(S::kMantissaBits > F::kMantissaBits && S::kBias >= F::kBias);
  constexpr Bits kOne = 1;
  constexpr Bits kHidden = kOne << S::kMantissaBits;
  constexpr int kRebias = S::kBias - F::kBias;

  const auto bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & ~(kOne << kSignShift<S>);
  // What is rounded, with `lost` bits below the last place of the result.
  Bits significand = magnitude - (static_cast<Bits>(kRebias) << S::kMantissaBits);
  int lost = S::kMantissaBits - F::kMantissaBits;
  if (kRebias != 0 && magnitude < (static_cast<Bits>(kRebias + 1) << S::kMantissaBits)) {
    const int exponent = static_cast<int>(magnitude >> S::kMantissaBits);
    significand = exponent == 0 ? magnitude : (magnitude & (kHidden - 1)) | kHidden;
    lost += kRebias + 1 - (exponent == 0 ? 1 : exponent);
    lost = lost < kSignShift<S> ? lost : kSignShift<S>;  // everything is lost long before
  }
  const Bits odd = (significand >> lost) & 1;
  Bits rounded = (significand + (kOne << (lost - 1)) - 1 + odd) >> lost;
  rounded = rounded > F::kMaxFinite ? F::kOverflow : rounded;
  rounded |= (bits >> kSignShift<S>) << kSignShift<F>;
  return static_cast<typename F::Bits>(magnitude >= S::kFirstNan ? F::kNan : rounded);
}

}  // namespace commrig::dtype
