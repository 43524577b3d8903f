// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/stores.h"

#include <unistd.h>

#include <cstring>

#include "dtype/kernels.h"

namespace commrig::dtype {
namespace {

// In virtual machines the system may know no third level, or no caches at all.
std::size_t ask_last_level_cache_bytes() {
  for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = sysconf(name);
    if (bytes > 0) return static_cast<std::size_t>(bytes);
  }
  return std::size_t{32} << 20U;
}

}  // namespace

std::size_t last_level_cache_bytes() {
  static const std::size_t kBytes = ask_last_level_cache_bytes();
  return kBytes;
}

Stores stores_for(std::size_t working_set_bytes) {
  return working_set_bytes > last_level_cache_bytes() ? Stores::kStreaming : Stores::kOrdinary;
}

void copy(void* target, const void* source, std::size_t bytes, Stores stores) {
  if (bytes == 0) return;
  const Result<const KernelSet*>& set = chosen_kernels();
  if (stores == Stores::kStreaming && set && set.value()->stream_copy != nullptr) {
    set.value()->stream_copy(source, target, bytes);
  } else {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace commrig::dtype
