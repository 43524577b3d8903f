// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/buffer_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace commrig::comm {

Status BufferCheck::check(const Call& call, const void* buffer, std::size_t count,
                          const char* which) {
  if (count == 0) return ok();
  const dtype::DtypeInfo& type = dtype::info(call.dtype);
  const auto where = [&] {
    return fmt::format("{} of {}, {} {}", which, coll::name(call.collective), count, type.name);
  };
  if (buffer == nullptr) return Error::make(Code::kCollectiveBuffer, where() + ": null");
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  if (begin % type.alignment != 0) {
    return Error::make(Code::kMisaligned,
                       fmt::format("{}: {} is no multiple of {}", where(), buffer, type.alignment));
  }
  const Range range{begin, begin + count * type.bytes};
  const std::uint64_t generation = memory_.generation();
  if (generation == generation_ && is_known(range)) return ok();
  if (memory_.is_device_address(buffer)) {
    const Result<device::Window> window = memory_.resolve(buffer, count * type.bytes);
    if (!window) {
      Error error = window.error();
      error.message = where() + ": " + error.message;
      return error;
    }
  }
  remember(range, generation);
  return ok();
}

bool BufferCheck::is_known(const Range& range) const {
  return std::ranges::any_of(known_, [&range](const Range& known) {
    return known.begin <= range.begin && range.end <= known.end;
  });
}

void BufferCheck::remember(const Range& range, std::uint64_t generation) {
  if (generation != generation_) known_ = {};
  generation_ = generation;
  known_[next_] = range;
  next_ = (next_ + 1) % known_.size();
}

}  // namespace commrig::comm
