// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dtype/dtype.h"
#include "dtype/format.h"

namespace commrig::dtype {

// What the scalar loops know of an element: `Stored` is how it lies in memory, `Value` what is
// computed with, and load() and store() go between the two. Narrow floats are computed with in fp32
// and rounded by store().
template <class T>
struct Integer {
  using Stored = T;
  using Value = T;
  static constexpr Value load(Stored stored) { return stored; }
  static constexpr Stored store(Value value) { return value; }
};

template <class F>
struct Narrow {
  using Stored = typename F::Bits;
  using Value = float;
  static constexpr Value load(Stored stored) { return widen<F>(stored); }
  template <class T>
  static constexpr Stored store(T value) {
    return narrow<F>(value);
  }
};

struct Single {
  using Stored = float;
  using Value = float;
  static constexpr Value load(Stored stored) { return stored; }
  static constexpr Stored store(float value) { return canonical(value); }
  static constexpr Stored store(double value) { return std::bit_cast<float>(narrow<Fp32>(value)); }
};

struct Double {
  using Stored = double;
  using Value = double;
  static constexpr Value load(Stored stored) { return stored; }
  static constexpr Stored store(double value) { return canonical(value); }
};

// Element `i` of an array that starts at `bytes`. Through memcpy, because buffers have no type of
// their own; compilers make one move of it.
template <class Stored>
Stored load_at(const std::byte* bytes, std::size_t i) {
  Stored stored;
  std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
  return stored;
}

template <class Stored>
void store_at(std::byte* bytes, std::size_t i, Stored stored) {
  std::memcpy(bytes + i * sizeof(Stored), &stored, sizeof(Stored));
}

// Calls visit(dtype, std::type_identity<Element>) for every integer type, and for every float type.
template <class Visit>
constexpr void for_each_integer(Visit visit) {
  visit(Dtype::kInt8, std::type_identity<Integer<std::int8_t>>{});
  visit(Dtype::kInt16, std::type_identity<Integer<std::int16_t>>{});
  visit(Dtype::kInt32, std::type_identity<Integer<std::int32_t>>{});
  visit(Dtype::kInt64, std::type_identity<Integer<std::int64_t>>{});
  visit(Dtype::kUint8, std::type_identity<Integer<std::uint8_t>>{});
  visit(Dtype::kUint16, std::type_identity<Integer<std::uint16_t>>{});
  visit(Dtype::kUint32, std::type_identity<Integer<std::uint32_t>>{});
  visit(Dtype::kUint64, std::type_identity<Integer<std::uint64_t>>{});
}

template <class Visit>
constexpr void for_each_float(Visit visit) {
  visit(Dtype::kFp16, std::type_identity<Narrow<Fp16>>{});
  visit(Dtype::kBf16, std::type_identity<Narrow<Bf16>>{});
  visit(Dtype::kFp32, std::type_identity<Single>{});
  visit(Dtype::kFp64, std::type_identity<Double>{});
  visit(Dtype::kFp8E4m3fn, std::type_identity<Narrow<Fp8E4m3fn>>{});
  visit(Dtype::kFp8E5m2, std::type_identity<Narrow<Fp8E5m2>>{});
}

}  // namespace commrig::dtype
