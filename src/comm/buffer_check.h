// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "comm/call.h"
#include "device/memory.h"

namespace commrig::comm {

// Looks at a buffer of a call before anything is done with it: `count` elements of the call's type
// at `buffer`, in device or host memory; `which` names it in errors. No buffer is needed for 0
// elements. Fails with kCollectiveBuffer for a null one, kMisaligned, and the errors of device
// memory. Thread-safe.
Status check_buffer(const device::Memory& memory, const Call& call, const void* buffer,
                    std::size_t count, const char* which);

}  // namespace commrig::comm
