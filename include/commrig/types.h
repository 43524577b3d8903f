// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "commrig/error.h"

namespace commrig::v0 {

// Types of elements. Those marked "size" can be moved, but not reduced.
enum class Dtype : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFp16,       // IEEE 754 binary16
  kBf16,       // the upper half of an fp32
  kFp32,       // IEEE 754 binary32
  kFp64,       // IEEE 754 binary64
  kFp8E4m3fn,  // OCP OFP8 E4M3: no infinity
  kFp8E5m2,    // OCP OFP8 E5M2
  kHif8,       // HiFloat8; size
  kFp8E8m0,    // OCP microscaling scale; size
  kInt128,     // size
};

// Integers are exact modulo 2^bits. fp16, bf16 and fp8 are combined in fp32, and rounded to
// nearest even: once, or at each hop where the algorithm passes partial results on. Max and min
// ignore a NaN when another value exists.
enum class ReduceOp : std::uint8_t { kSum, kProd, kMax, kMin };

// Bytes of one element; 0 for a number that is no enumerator.
COMMRIG_API std::size_t size_of(Dtype dtype);

// "bf16", "sum"; "?" for a number that is no enumerator. The text lives for ever.
COMMRIG_API std::string_view name(Dtype dtype);
COMMRIG_API std::string_view name(ReduceOp op);

// The other way round, and by usual aliases such as "half". Otherwise CR-DTY01 or CR-DTY03, which
// list the names.
COMMRIG_API Result<Dtype> parse_dtype(std::string_view text);
COMMRIG_API Result<ReduceOp> parse_reduce_op(std::string_view text);

// The element type of a C++ number: dtype_of<float>() is kFp32.
template <class T>
constexpr Dtype dtype_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "no element type is this C++ type");
  static_assert(!std::is_same_v<T, bool>, "no element type is bool");
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? Dtype::kFp32 : Dtype::kFp64;
  } else {
    constexpr Dtype kSigned[] = {Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64};
    constexpr Dtype kUnsigned[] = {Dtype::kUint8, Dtype::kUint16, Dtype::kUint32, Dtype::kUint64};
    constexpr int kRow = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kRow] : kUnsigned[kRow];
  }
}

}  // namespace commrig::v0
