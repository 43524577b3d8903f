// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "base/result.h"

namespace commrig {

enum class HostAccess { kRead, kWrite };

// Whether all of the range is mapped, and this process may read (or write) its first and its last
// page; what lies between is taken to be alike, and what others unmap later is not foreseen. These
// two pages come into being, as by the access itself. No bytes are always fine. Fails with
// kHostRange. Thread-safe; takes about a microsecond.
Status check_host_memory(const void* start, std::size_t bytes, HostAccess access);

}  // namespace commrig
