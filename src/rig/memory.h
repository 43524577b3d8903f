// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "rig/export.h"

namespace commrig::rig {

// Memory as host interfaces know it: of a device, managed, or of the host and known to the devices.
// Everything that is allocated or registered here is kept in one table. All functions are
// thread-safe.

enum class MemoryKind : std::uint8_t {
  kOrdinary,  // of the host, and nothing is known of it
  kHost,      // of the host, allocated or registered here
  kDevice,
  kManaged,  // of a device, and meant to be used by the host as well
  kShared,   // of a device, by another process, see share.h
};

// The range that a pointer lies in.
struct PointerInfo {
  MemoryKind kind = MemoryKind::kOrdinary;
  int device = -1;
  void* base = nullptr;
  std::size_t bytes = 0;
};

// Fails as device::Memory::allocate. The caller gives it to release().
COMMRIG_RIG Result<void*> allocate(int device, std::size_t bytes,
                                   MemoryKind kind = MemoryKind::kDevice);

// Waits for the streams of its device, and frees it; null is fine. MEM errors, kInCallback.
COMMRIG_RIG Status release(void* pointer);

// Host memory, aligned to 4096 bytes; of undefined contents. kOutOfMemory, kZeroSize.
COMMRIG_RIG Result<void*> allocate_host(int device, std::size_t bytes);
// Waits for all streams of the device that it was allocated for. kHostMemory, kInCallback.
COMMRIG_RIG Status release_host(void* pointer);

// Makes the caller's own memory known, and forgets it; it must live so long. kHostRange for a range
// that is not there, kHostMemory for one that is known in part, or for the start of none.
COMMRIG_RIG Status register_host(int device, void* pointer, std::size_t bytes);
COMMRIG_RIG Status unregister_host(void* pointer);

// For share.cc: what it has mapped becomes known, and is forgotten.
void add_shared(void* pointer, int device, std::size_t bytes);
void remove_shared(void* pointer);

// Waits for all streams of the device, whose errors are not told: what is freed may still be in use
// there. kInCallback.
Status settle_device(int device);

COMMRIG_RIG PointerInfo pointer_info(const void* pointer);

// MEM errors unless the devices can reach so many bytes at the pointer.
COMMRIG_RIG Status check_reachable(const void* pointer, std::size_t bytes);

struct MemoryUse {
  std::size_t free = 0;  // bytes
  std::size_t total = 0;
};
COMMRIG_RIG Result<MemoryUse> memory_use(int device);

// Copies in rows; a plain copy is one row. The distances from row to row are in bytes.
struct Copy {
  void* target = nullptr;
  std::size_t target_pitch = 0;
  const void* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width = 0;  // bytes
  std::size_t height = 1;
};

// Puts it on a stream. Ordinary host memory belongs to the caller again on return: it is read at
// once, and for what is written to it the call waits. MEM errors, kBadArgument, kNoSuchHandle.
COMMRIG_RIG Status copy_on_stream(void* stream, int device, const Copy& copy);

// Puts on a stream that each byte becomes `value`. MEM errors; kBadArgument for ordinary host
// memory.
COMMRIG_RIG Status fill_on_stream(void* stream, int device, void* target, std::uint8_t value,
                                  std::size_t bytes);

}  // namespace commrig::rig
