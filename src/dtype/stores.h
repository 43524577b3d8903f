// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace commrig::dtype {

// How results are written. The bits are the same.
enum class Stores : std::uint8_t {
  kOrdinary,   // through the caches: best for what is read again soon
  kStreaming,  // past the caches, so that lines needn't be read before they are written whole
};

// Streaming when a loop that touches so many bytes in all, sources and target together, throws them
// out of the last-level cache by itself. Thread-safe.
Stores stores_for(std::size_t working_set_bytes);

// Bytes of the last-level cache as the system tells it, or 32 MiB where it doesn't. Thread-safe.
std::size_t last_level_cache_bytes();

// As memcpy: the ranges must not overlap. After streaming stores a fence makes them visible like
// ordinary ones. Thread-safe as long as nobody else writes these buffers.
void copy(void* target, const void* source, std::size_t bytes, Stores stores);

}  // namespace commrig::dtype
