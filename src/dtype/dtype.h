// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace commrig::dtype {

// The element types that buffers and messages can have. The enumerators are ours alone: code
// numbers of a vendor belong to the table of its layout. They index the tables of this folder, so a
// new one goes to the end, together with its row in kDtypes.
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
  kBf16,       // the upper half of an IEEE 754 binary32
  kFp32,       // IEEE 754 binary32
  kFp64,       // IEEE 754 binary64
  kFp8E4m3fn,  // OCP 8-bit floating point (OFP8) revision 1.0, E4M3: no infinity, one NaN
  kFp8E5m2,    // OFP8 E5M2: IEEE-like
  kHif8,       // HiFloat8, known by size only
  kFp8E8m0,    // OCP microscaling scale, known by size only
  kInt128,     // known by size only
};

enum class Class : std::uint8_t {
  kSigned,
  kUnsigned,
  kFloat,
  kScale,  // a power of two that scales a block of other elements
};

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;      // of one element
  std::size_t alignment;  // in bytes, of the first element of a buffer
  Class element_class;
  bool has_arithmetic;  // false: may be moved, but is refused by convert and reduce
};

inline constexpr std::array kDtypes = {
    DtypeInfo{Dtype::kInt8, "int8", 1, 1, Class::kSigned, true},
    DtypeInfo{Dtype::kInt16, "int16", 2, 2, Class::kSigned, true},
    DtypeInfo{Dtype::kInt32, "int32", 4, 4, Class::kSigned, true},
    DtypeInfo{Dtype::kInt64, "int64", 8, 8, Class::kSigned, true},
    DtypeInfo{Dtype::kUint8, "uint8", 1, 1, Class::kUnsigned, true},
    DtypeInfo{Dtype::kUint16, "uint16", 2, 2, Class::kUnsigned, true},
    DtypeInfo{Dtype::kUint32, "uint32", 4, 4, Class::kUnsigned, true},
    DtypeInfo{Dtype::kUint64, "uint64", 8, 8, Class::kUnsigned, true},
    DtypeInfo{Dtype::kFp16, "fp16", 2, 2, Class::kFloat, true},
    DtypeInfo{Dtype::kBf16, "bf16", 2, 2, Class::kFloat, true},
    DtypeInfo{Dtype::kFp32, "fp32", 4, 4, Class::kFloat, true},
    DtypeInfo{Dtype::kFp64, "fp64", 8, 8, Class::kFloat, true},
    DtypeInfo{Dtype::kFp8E4m3fn, "fp8_e4m3fn", 1, 1, Class::kFloat, true},
    DtypeInfo{Dtype::kFp8E5m2, "fp8_e5m2", 1, 1, Class::kFloat, true},
    DtypeInfo{Dtype::kHif8, "hif8", 1, 1, Class::kFloat, false},
    DtypeInfo{Dtype::kFp8E8m0, "fp8_e8m0", 1, 1, Class::kScale, false},
    DtypeInfo{Dtype::kInt128, "int128", 16, 8, Class::kSigned, false},
};

// The place of a type's row in this table and in every other table over all types.
constexpr std::size_t index(Dtype dtype) {
  return static_cast<std::size_t>(dtype);
}

static_assert([] {
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    if (index(kDtypes[i].dtype) != i) return false;
  }
  return index(Dtype::kInt128) + 1 == kDtypes.size();
}());

// The row of `dtype`. A number that is no enumerator is our own bug: it fails a COMMRIG_CHECK.
constexpr const DtypeInfo& info(Dtype dtype) {
  COMMRIG_CHECK(index(dtype) < kDtypes.size(), "no element type has this number");
  return kDtypes[index(dtype)];
}

// Bytes of one element.
constexpr std::size_t size_of(Dtype dtype) {
  return info(dtype).bytes;
}

// Every type, in the order of the enumerators.
constexpr std::span<const DtypeInfo> all() {
  return kDtypes;
}

// The type of that name, or of that alias ("half", "bfloat16", "float8_e5m2" and the like; case
// matters). Otherwise kUnknownDtype, with the known names in the message. Thread-safe.
Result<Dtype> parse(std::string_view name);

}  // namespace commrig::dtype
