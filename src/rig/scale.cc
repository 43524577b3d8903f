// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/scale.h"

#include <cstring>
#include <type_traits>

#include "dtype/convert.h"

namespace commrig::rig {
namespace {

using dtype::Dtype;

// Calls `body` with a value of the C++ type in which sums of this type are scaled.
template <class Body>
Status with_type(Dtype type, const Body& body) {
  switch (type) {
    case Dtype::kInt8:
      return body(std::int8_t{});
    case Dtype::kUint8:
      return body(std::uint8_t{});
    case Dtype::kInt16:
      return body(std::int16_t{});
    case Dtype::kUint16:
      return body(std::uint16_t{});
    case Dtype::kInt32:
      return body(std::int32_t{});
    case Dtype::kUint32:
      return body(std::uint32_t{});
    case Dtype::kInt64:
      return body(std::int64_t{});
    case Dtype::kUint64:
      return body(std::uint64_t{});
    case Dtype::kFp32:
      return body(float{});
    case Dtype::kFp64:
      return body(double{});
    default:
      return Error::make(Code::kNoArithmetic, std::string(dtype::info(type).name));
  }
}

// Integers modulo 2^bits, without the undefined overflow of signed ones.
template <class T>
T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
}

template <class T>
T quotient(T sum, std::int64_t divisor) {
  if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(divisor);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(sum) / divisor);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(sum) / static_cast<std::uint64_t>(divisor));
  }
}

}  // namespace

Dtype scaling_type(Dtype dtype) {
  const dtype::DtypeInfo& info = dtype::info(dtype);
  return info.element_class == dtype::Class::kFloat && info.bytes < 4 ? Dtype::kFp32 : dtype;
}

Status widen(Dtype dtype, const void* source, void* target, std::size_t count) {
  const Dtype wide = scaling_type(dtype);
  if (wide != dtype) return dtype::convert(dtype, source, wide, target, count);
  if (source != target) std::memcpy(target, source, count * dtype::size_of(dtype));
  return ok();
}

Status multiply(Dtype dtype, const void* source, const void* scalar, void* target,
                std::size_t count) {
  COMMRIG_TRY(widen(dtype, source, target, count));
  return with_type(scaling_type(dtype), [&]<class T>(T factor) -> Status {
    COMMRIG_TRY(widen(dtype, scalar, &factor, 1));
    T* const values = static_cast<T*>(target);
    for (std::size_t i = 0; i < count; ++i) values[i] = product(values[i], factor);
    return ok();
  });
}

Status divide(Dtype dtype, void* sum, std::int64_t divisor, void* target, std::size_t count) {
  const Dtype wide = scaling_type(dtype);
  if (divisor != 1) {
    COMMRIG_TRY(with_type(wide, [&]<class T>(T) -> Status {
      T* const values = static_cast<T*>(sum);
      for (std::size_t i = 0; i < count; ++i) values[i] = quotient(values[i], divisor);
      return ok();
    }));
  }
  if (wide != dtype) return dtype::convert(wide, sum, dtype, target, count);
  if (sum != target) std::memcpy(target, sum, count * dtype::size_of(dtype));
  return ok();
}

}  // namespace commrig::rig
