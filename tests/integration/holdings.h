// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string>

#include "device/machine.h"

namespace commrig::integration {

// What this process holds of the system's things.
struct Holdings {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t maps = 0;
  std::size_t shared_files = 0;  // of all processes, in /dev/shm
  std::size_t device_bytes = 0;  // that are allocated on device 0
  std::size_t arena_segments = 0;

  static Holdings now(device::Machine& machine);
  // What there is more of in `after`; empty when nothing is. Maps may be more by a few, which are
  // the allocator's own.
  std::string compare(const Holdings& after) const;
};

}  // namespace commrig::integration
