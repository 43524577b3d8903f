// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/pattern.h"

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "dtype/convert.h"

namespace commrig::integration {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;

// Bits of a small whole number. Types known by size only get its two's complement.
void encode(Dtype dtype, std::int64_t value, std::byte* target) {
  const dtype::DtypeInfo& type = dtype::info(dtype);
  if (type.element_class == dtype::Class::kFloat && type.has_arithmetic) {
    const auto number = static_cast<float>(value);
    if (dtype == Dtype::kFp32) {
      std::memcpy(target, &number, sizeof(number));
    } else if (dtype == Dtype::kFp64) {
      const double wide = number;
      std::memcpy(target, &wide, sizeof(wide));
    } else {
      const Status converted = dtype::convert(Dtype::kFp32, &number, dtype, target, 1);
      COMMRIG_CHECK(converted.has_value(), to_string(converted.error()));
    }
    return;
  }
  std::memset(target, value < 0 ? 0xFF : 0, type.bytes);
  std::memcpy(target, &value, std::min(type.bytes, sizeof(value)));
}

bool has_sign(Dtype dtype) {
  return dtype::info(dtype).element_class != dtype::Class::kUnsigned;
}

}  // namespace

Pattern::Pattern(std::uint64_t seed, Dtype dtype, bool combines, ReduceOp op, int ranks)
    : seed_(seed), dtype_(dtype), combines_(combines), op_(op), ranks_(ranks) {}

std::int64_t Pattern::value(int rank, std::size_t i) const {
  Rng rng(seed_ ^ (static_cast<std::uint64_t>(rank) << 32U) ^ i);
  if (!combines_) return static_cast<std::int64_t>(rng.below(100));
  if (op_ == ReduceOp::kSum) return static_cast<std::int64_t>(rng.below(2));
  if (op_ == ReduceOp::kProd) {
    if (rng.below(4) != 0) return 1;
    return has_sign(dtype_) ? -1 : 0;
  }
  return rng.between(has_sign(dtype_) ? -8 : 0, 8);
}

std::int64_t Pattern::combined(std::size_t i) const {
  std::int64_t result = value(0, i);
  for (int rank = 1; rank < ranks_; ++rank) {
    const std::int64_t next = value(rank, i);
    switch (op_) {
      case ReduceOp::kSum:
        result += next;
        break;
      case ReduceOp::kProd:
        result *= next;
        break;
      case ReduceOp::kMax:
        result = std::max(result, next);
        break;
      case ReduceOp::kMin:
        result = std::min(result, next);
        break;
    }
  }
  return result;
}

std::vector<std::byte> Pattern::period(int rank, std::size_t first) const {
  const std::size_t element = dtype::size_of(dtype_);
  std::vector<std::byte> bytes(kPeriod * element);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const std::size_t at = (first + i) % kPeriod;
    encode(dtype_, rank == kAll ? combined(at) : value(rank, at), bytes.data() + i * element);
  }
  return bytes;
}

void Pattern::fill(int rank, std::size_t first, std::span<std::byte> target) const {
  const std::vector<std::byte> bytes = period(rank, first);
  for (std::size_t at = 0; at < target.size(); at += bytes.size()) {
    std::memcpy(target.data() + at, bytes.data(), std::min(bytes.size(), target.size() - at));
  }
}

std::size_t Pattern::first_wrong(int rank, std::size_t first,
                                 std::span<const std::byte> found) const {
  const std::size_t element = dtype::size_of(dtype_);
  if (found.empty()) return 0;
  const std::vector<std::byte> bytes = period(rank, first);
  for (std::size_t at = 0; at < found.size(); at += bytes.size()) {
    const std::size_t length = std::min(bytes.size(), found.size() - at);
    if (std::memcmp(found.data() + at, bytes.data(), length) == 0) continue;
    for (std::size_t i = 0; i < length; i += element) {
      if (std::memcmp(found.data() + at + i, bytes.data() + i, element) != 0) {
        return (at + i) / element;
      }
    }
  }
  return found.size() / element;
}

}  // namespace commrig::integration
