// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "commrig/stream.h"

namespace commrig::v0 {

// Device memory can be read and written by the host like any other, as long as no work that uses
// it is on a stream. Collectives take device and host memory alike. In calls with device memory,
// commrig knows where each allocation ends and whether it is still there, so a stray, freed or
// overrun pointer is an error (MEM). All functions are thread-safe.

// `bytes` of memory on a device, aligned to 512 bytes, of undefined contents; the caller frees
// it. CR-MEM09 for a device that does not exist, CR-MEM08 for 0 bytes, CR-MEM05 when the device
// has no more, CR-RUN05 when the system has no more.
COMMRIG_API Result<void*> allocate(Runtime& runtime, int device, std::size_t bytes);

// Frees what allocate() gave; null is fine. No work on a stream may still use it. CR-MEM01 for a
// pointer that isn't device memory, CR-MEM07 for the inside of an allocation, CR-MEM06 for one
// that was freed before.
COMMRIG_API Status free(Runtime& runtime, void* pointer);

// Puts a copy of `bytes` on the stream; each side is device or host memory, and stays the
// caller's. Both must live until it has been done, and not overlap in part. Device memory is
// checked now: MEM errors.
COMMRIG_API Status copy(Stream& stream, void* target, const void* source, std::size_t bytes);

// Puts on the stream: every one of `bytes` of device memory becomes `value`. MEM errors.
COMMRIG_API Status fill(Stream& stream, void* target, std::uint8_t value, std::size_t bytes);

}  // namespace commrig::v0
