// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/link_memory.h"

#include <new>

#include <fmt/format.h>

namespace commrig::transport {

LinkMemory* LinkMemory::make(std::span<std::byte> memory, std::size_t ring_bytes) {
  COMMRIG_CHECK(memory.size() >= bytes_for(ring_bytes) && ring_bytes > sizeof(RingHeader),
                fmt::format("{} bytes for a link with rings of {}", memory.size(), ring_bytes));
  auto* const link = new (memory.data()) LinkMemory;
  link->ring_bytes = ring_bytes;
  link->magic.store(kMagic, std::memory_order_release);
  return link;
}

Result<LinkMemory*> LinkMemory::find(std::span<std::byte> memory) {
  auto* const link = std::launder(reinterpret_cast<LinkMemory*>(memory.data()));
  if (memory.size() < sizeof(LinkMemory) || link->magic.load(std::memory_order_acquire) != kMagic) {
    return Error::make(
        Code::kBadFrame,
        fmt::format("a segment of {} bytes holds no link of this version", memory.size()));
  }
  const std::size_t room = memory.size() - sizeof(LinkMemory);
  if (link->ring_bytes <= sizeof(RingHeader) || link->ring_bytes > room / 2) {
    return Error::make(Code::kBadFrame, fmt::format("a link with rings of {} bytes in {} bytes",
                                                    link->ring_bytes, memory.size()));
  }
  return link;
}

}  // namespace commrig::transport
