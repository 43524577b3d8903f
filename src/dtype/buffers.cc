// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/buffers.h"

#include <cstdint>

#include <fmt/format.h>

namespace commrig::dtype {
namespace {

std::string full_name(std::string_view name, int number) {
  return number < 0 ? std::string(name) : fmt::format("{} {}", name, number);
}

}  // namespace

Status check_buffer(const void* buffer, Dtype dtype, std::string_view name, int number) {
  if (buffer == nullptr) {
    return Error::make(Code::kBadArgument, fmt::format("{} is null", full_name(name, number)));
  }
  const DtypeInfo& row = info(dtype);
  if (reinterpret_cast<std::uintptr_t>(buffer) % row.alignment != 0) {
    return Error::make(Code::kMisaligned,
                       fmt::format("{} at {} is not aligned to the {} bytes of {}",
                                   full_name(name, number), buffer, row.alignment, row.name));
  }
  return ok();
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto a_start = reinterpret_cast<std::uintptr_t>(a);
  const auto b_start = reinterpret_cast<std::uintptr_t>(b);
  return a_start < b_start ? b_start - a_start < a_bytes : a_start - b_start < b_bytes;
}

}  // namespace commrig::dtype
