// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/buffer_check.h"

#include <fmt/format.h>

namespace commrig::comm {

Status check_buffer(const device::Memory& memory, const Call& call, const void* buffer,
                    std::size_t count, HostAccess access) {
  if (count == 0) return ok();
  const dtype::DtypeInfo& type = dtype::info(call.dtype);
  const auto where = [&] {
    return fmt::format("{} of {}, {} {}", access == HostAccess::kWrite ? "output" : "input",
                       coll::name(call.collective), count, type.name);
  };
  if (buffer == nullptr) return Error::make(Code::kCollectiveBuffer, where() + ": null");
  if (reinterpret_cast<std::uintptr_t>(buffer) % type.alignment != 0) {
    return Error::make(Code::kMisaligned,
                       fmt::format("{}: {} is no multiple of {}", where(), buffer, type.alignment));
  }
  if (Status status = device::check_range(memory, buffer, count * type.bytes, access); !status) {
    Error error = status.error();
    error.message = where() + ": " + error.message;
    return error;
  }
  return ok();
}

}  // namespace commrig::comm
