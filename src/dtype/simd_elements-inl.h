// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Elements as the vector loops hold them: what element.h is to the scalar ones. Compiled once for
// each target, so the guard is flipped by Highway's foreach_target.h instead of standing still.
#if defined(COMMRIG_DTYPE_SIMD_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COMMRIG_DTYPE_SIMD_ELEMENTS_INL_H_
#undef COMMRIG_DTYPE_SIMD_ELEMENTS_INL_H_
#else
#define COMMRIG_DTYPE_SIMD_ELEMENTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

// clang-format off: what chooses the targets comes before Highway's own headers
#include "dtype/simd_targets.h"
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "dtype/format.h"
#include "dtype/reduce.h"

#if HWY_TARGET & COMMRIG_SIMD_TARGETS

HWY_BEFORE_NAMESPACE();
namespace commrig::dtype::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Vector = hn::Vec<hn::ScalableTag<T>>;

template <class T>
HWY_INLINE Vector<T> load_vector(const std::byte* bytes) {
  return hn::LoadU(hn::ScalableTag<T>{}, reinterpret_cast<const T*>(bytes));
}

// kFromMemory: the sources are too large for the caches.
struct OrdinaryStores {
  static constexpr bool kFromMemory = false;
  template <class T>
  static HWY_INLINE void put(Vector<T> vector, std::byte* bytes) {
    hn::StoreU(vector, hn::ScalableTag<T>{}, reinterpret_cast<T*>(bytes));
  }
};

// The place must be aligned to the vector.
struct StreamingStores {
  static constexpr bool kFromMemory = true;
  template <class T>
  static HWY_INLINE void put(Vector<T> vector, std::byte* bytes) {
    hn::Stream(vector, hn::ScalableTag<T>{}, reinterpret_cast<T*>(bytes));
  }
};

template <class T>
HWY_INLINE Vector<T> canonical_vector(Vector<T> value) {
  const hn::ScalableTag<T> floats;
  const hn::ScalableTag<typename NativeFormat<T>::Bits> bits;
  return hn::IfThenElse(hn::IsNaN(value), hn::BitCast(floats, hn::Set(bits, NativeFormat<T>::kNan)),
                        value);
}

// The one of two floats that wins: a NaN only against another, and -0 is below +0. Equal values
// differ in the sign of a zero at most, so "and" gives the greater of the two and "or" the lesser.
template <ReduceOp Op, class V>
HWY_INLINE V winner(V a, V b) {
  constexpr bool kMax = Op == ReduceOp::kMax;
  const auto b_wins = hn::Or(kMax ? hn::Lt(a, b) : hn::Lt(b, a), hn::IsNaN(a));
  const V equal = kMax ? hn::And(a, b) : hn::Or(a, b);
  return hn::IfThenElse(hn::Eq(a, b), equal, hn::IfThenElse(b_wins, b, a));
}

// Not all targets multiply bytes: the even and the odd ones are multiplied in lanes of 16 bits.
HWY_INLINE Vector<std::uint8_t> multiply_bytes(Vector<std::uint8_t> a, Vector<std::uint8_t> b) {
  const hn::ScalableTag<std::uint8_t> bytes;
  const hn::ScalableTag<std::uint16_t> words;
  const auto x = hn::BitCast(words, a);
  const auto y = hn::BitCast(words, b);
  const auto even = hn::And(hn::Mul(x, y), hn::Set(words, 0x00FF));
  const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
  return hn::BitCast(bytes, hn::Or(even, odd));
}

template <ReduceOp Op, class T>
HWY_INLINE Vector<T> combine_vectors(Vector<T> a, Vector<T> b) {
  if constexpr (Op == ReduceOp::kSum) {
    return hn::Add(a, b);
  } else if constexpr (Op == ReduceOp::kProd && sizeof(T) == 1) {
    return multiply_bytes(a, b);
  } else if constexpr (Op == ReduceOp::kProd) {
    return hn::Mul(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return winner<Op>(a, b);
  } else if constexpr (Op == ReduceOp::kMax) {
    return hn::Max(a, b);
  } else {
    return hn::Min(a, b);
  }
}

// Each of the following stands for one vector of elements in memory: `Held` is what is computed
// with, load() and store() go between the two, combine() is one step of the fold. Where kGuesses
// says so for an op, there is a guess() as well, which stores in fewer steps what is right as long
// as `doubt` stays finite: it takes in every result and never gets finite again.
template <class T>
struct NativeVector {
  template <ReduceOp>
  static constexpr bool kGuesses = false;
  using Stored = T;
  using Held = Vector<T>;
  static constexpr std::size_t kBytes = HWY_LANES(T) * sizeof(T);

  static HWY_INLINE Held load(const std::byte* bytes) { return load_vector<T>(bytes); }

  template <ReduceOp Op>
  static HWY_INLINE Held combine(Held a, Held b) {
    return combine_vectors<Op, T>(a, b);
  }

  template <class Put>
  static HWY_INLINE void store(Held held, std::byte* bytes) {
    if constexpr (std::is_floating_point_v<T>) held = canonical_vector<T>(held);
    Put::template put<T>(held, bytes);
  }
};

// Two vectors of fp32 for one of a 16-bit type.
struct FloatPair {
  Vector<float> a;
  Vector<float> b;

  template <ReduceOp Op>
  static HWY_INLINE FloatPair combine(FloatPair x, FloatPair y) {
    return {combine_vectors<Op, float>(x.a, y.a), combine_vectors<Op, float>(x.b, y.b)};
  }
};

// `rounded` where the magnitude of `bits` is no NaN of F, else the canonical one. Both have the
// bits of the 16-bit format.
template <class F>
HWY_INLINE Vector<std::uint16_t> without_nans(Vector<std::uint16_t> bits,
                                              Vector<std::uint16_t> rounded) {
  const hn::ScalableTag<std::uint16_t> words;
  const hn::ScalableTag<std::int16_t> integers;
  const auto magnitude = hn::BitCast(integers, hn::And(bits, hn::Set(words, 0x7FFF)));
  const auto nan = hn::Gt(magnitude, hn::Set(integers, F::kFirstNan - 1));
  return hn::IfThenElse(hn::MaskFromVec(hn::BitCast(words, hn::VecFromMask(integers, nan))),
                        hn::Set(words, F::kNan), rounded);
}

// Bf16: `a` holds the elements at even places, `b` those at odd ones, so that no element changes
// its lane on the way.
struct Bf16Vector : FloatPair {
  // Sums alone: every sum of bf16 values is a multiple of the least one, so that those too small
  // to be normal are exact and need no rounding at a place of their own, as products would.
  template <ReduceOp Op>
  static constexpr bool kGuesses = Op == ReduceOp::kSum && HWY_NATIVE_FMA != 0;
  // Whether four vectors of two sources are best loaded before the first is computed with, as far
  // as registers go. Where loading converts (fp16), they don't go that far.
  static constexpr bool kLoadsAhead = true;
  using Stored = std::uint16_t;
  using Held = FloatPair;
  static constexpr std::size_t kBytes = HWY_LANES(float) * sizeof(float);

  static HWY_INLINE Held load(const std::byte* bytes) {
    const hn::ScalableTag<std::uint32_t> bits;
    const hn::ScalableTag<float> floats;
    const Vector<std::uint32_t> both = load_vector<std::uint32_t>(bytes);
    return {hn::BitCast(floats, hn::ShiftLeft<16>(both)),
            hn::BitCast(floats, hn::And(both, hn::Set(bits, 0xFFFF0000)))};
  }

  // Rounds to nearest even in 16-bit lanes: `kept` is the upper half of the fp32, `lost` the lower.
  // The carry of lost + 0x7FFF + (last bit kept) is the top bit of an average, which is rounded up
  // after its sum was formed in 17 bits. A NaN shows in `kept`, because it either came from a bf16
  // or was made quiet by the processor.
  template <class Put>
  static HWY_INLINE void store(Held held, std::byte* bytes) {
    const hn::ScalableTag<std::uint32_t> bits;
    const hn::ScalableTag<std::uint16_t> words;
    const auto even = hn::BitCast(bits, held.a);
    const auto odd = hn::BitCast(bits, held.b);
    const auto kept =
        hn::OddEven(hn::BitCast(words, odd), hn::BitCast(words, hn::ShiftRight<16>(even)));
    const auto lost =
        hn::OddEven(hn::BitCast(words, hn::ShiftLeft<16>(odd)), hn::BitCast(words, even));
    const auto half = hn::Add(hn::And(kept, hn::Set(words, 1)), hn::Set(words, 0x7FFE));
    const auto carry = hn::ShiftRight<15>(hn::AverageRound(lost, half));
    Put::template put<Stored>(without_nans<Bf16>(kept, hn::Add(kept, carry)), bytes);
  }

  // `value` to 8 significant bits, nearest even: 65536 * value is a multiple of the last place of
  // 65535 * value once that is rounded, so their difference, which is near `value`, is value
  // rounded to such places, and those are 16 bits above its own. Just above a power of two, 65535 *
  // value has places of half the size, but then the last rounding makes up for it. From 2^112 on
  // the product overflows and gives an infinity or a NaN, as do infinities and NaNs themselves. The
  // zero that is added turns -0 into +0, whose subtraction leaves -0 as it was.
  static HWY_INLINE Vector<float> round_guess(Vector<float> value) {
    const hn::ScalableTag<float> floats;
    const auto below = hn::MulAdd(value, hn::Set(floats, 65535.0F), hn::Zero(floats));
    return hn::MulSub(value, hn::Set(floats, 65536.0F), below);
  }

  template <class Put>
  static HWY_INLINE void guess(Held held, std::byte* bytes, Vector<float>& doubt) {
    const hn::ScalableTag<std::uint32_t> bits;
    const hn::ScalableTag<std::uint16_t> words;
    const auto even = round_guess(held.a);
    const auto odd = round_guess(held.b);
    doubt = hn::MulAdd(even, odd, doubt);
    const auto even_words = hn::BitCast(words, hn::ShiftRight<16>(hn::BitCast(bits, even)));
    Put::template put<Stored>(hn::OddEven(hn::BitCast(words, odd), even_words), bytes);
  }
};

// Fp16: `a` holds the first half, `b` the second. All our targets convert in hardware, subnormals
// included, to nearest even; a NaN becomes quiet and keeps its sign and upper payload.
struct Fp16Vector : FloatPair {
  template <ReduceOp>
  static constexpr bool kGuesses = HWY_NATIVE_FMA != 0;
  static constexpr bool kLoadsAhead = false;
  using Stored = std::uint16_t;
  using Held = FloatPair;
  static constexpr std::size_t kBytes = HWY_LANES(float) * sizeof(float);

  static HWY_INLINE Vector<float> widen_half(const std::byte* bytes) {
    const hn::ScalableTag<float> floats;
    const hn::Rebind<std::uint16_t, decltype(floats)> words;
    const hn::Rebind<hwy::float16_t, decltype(floats)> halves;
    const auto loaded = hn::LoadU(words, reinterpret_cast<const std::uint16_t*>(bytes));
    return hn::PromoteTo(floats, hn::BitCast(halves, loaded));
  }

  static HWY_INLINE auto narrow_half(Vector<float> value) {
    const hn::ScalableTag<float> floats;
    const hn::Rebind<std::uint16_t, decltype(floats)> words;
    const hn::Rebind<hwy::float16_t, decltype(floats)> halves;
    return hn::BitCast(words, hn::DemoteTo(halves, value));
  }

  static HWY_INLINE Held load(const std::byte* bytes) {
    return {widen_half(bytes), widen_half(bytes + kBytes / 2)};
  }

  template <class Put>
  static HWY_INLINE void store(Held held, std::byte* bytes) {
    const auto rounded = narrow_both(held);
    Put::template put<Stored>(without_nans<Fp16>(rounded, rounded), bytes);
  }

  static HWY_INLINE Vector<std::uint16_t> narrow_both(Held held) {
    const hn::ScalableTag<std::uint16_t> words;
    return hn::Combine(words, narrow_half(held.b), narrow_half(held.a));
  }

  // Leaves NaNs as the processor makes them.
  template <class Put>
  static HWY_INLINE void guess(Held held, std::byte* bytes, Vector<float>& doubt) {
    doubt = hn::MulAdd(held.a, held.b, doubt);
    Put::template put<Stored>(narrow_both(held), bytes);
  }
};

}  // namespace commrig::dtype::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET & COMMRIG_SIMD_TARGETS
#endif  // COMMRIG_DTYPE_SIMD_ELEMENTS_INL_H_
