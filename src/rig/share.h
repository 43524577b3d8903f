// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>

#include "base/result.h"
#include "rig/export.h"

namespace commrig::rig {

// Device memory for other processes of this host and user. All functions are thread-safe.

// Names an allocation of this process; bytes that may be sent anywhere, and mean something as long
// as the process lives and has not freed it.
using ShareHandle = std::array<std::byte, 64>;

// The handle of the whole allocation that the pointer lies in. kShareHandle for other memory, also
// for that of another process.
COMMRIG_RIG Result<ShareHandle> share_memory(const void* pointer);

// Maps it as memory of `device`; the start of the allocation. The same one opened again is the same
// pointer. What its owner frees loses its contents, and can still be read. kShareHandle for bytes
// that are no handle, for one of this process, and where the owner is gone or its memory can't be
// reached.
COMMRIG_RIG Result<void*> open_memory(const ShareHandle& handle, int device);

// Once for each open_memory(): with the last one the pointer ends, after the work on the streams of
// its device. kShareHandle for other pointers, kInCallback.
COMMRIG_RIG Status close_memory(void* pointer);

}  // namespace commrig::rig
