// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/buffer_check.h"

#include <fmt/format.h>

namespace commrig::comm {

Status check_buffer(const device::Memory& memory, const Call& call, const void* buffer,
                    std::size_t count, const char* which) {
  if (count == 0) return ok();
  const dtype::DtypeInfo& type = dtype::info(call.dtype);
  const auto where = [&] {
    return fmt::format("{} of {}, {} {}", which, coll::name(call.collective), count, type.name);
  };
  if (buffer == nullptr) return Error::make(Code::kCollectiveBuffer, where() + ": null");
  if (reinterpret_cast<std::uintptr_t>(buffer) % type.alignment != 0) {
    return Error::make(Code::kMisaligned,
                       fmt::format("{}: {} is no multiple of {}", where(), buffer, type.alignment));
  }
  if (memory.is_device_address(buffer)) {
    const Result<device::Window> window = memory.resolve(buffer, count * type.bytes);
    if (!window) {
      Error error = window.error();
      error.message = where() + ": " + error.message;
      return error;
    }
  }
  return ok();
}

}  // namespace commrig::comm
