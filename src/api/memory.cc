// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/memory.h"

#include <source_location>

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {

Result<void*> allocate(Runtime& runtime, int device, std::size_t bytes) {
  const auto& state = Internals::state(runtime);
  if (!state) return moved_from("Runtime");
  return guarded([&]() -> Result<void*> {
    // The place would be this line and not the caller's.
    COMMRIG_API_ASSIGN(void* const pointer,
                       state->machine.memory().allocate(device, bytes, std::source_location()));
    return pointer;
  });
}

Status free(Runtime& runtime, void* pointer) {
  const auto& state = Internals::state(runtime);
  if (!state) return moved_from("Runtime");
  if (pointer == nullptr) return v0::ok();
  return guarded([&] { return translate(state->machine.memory().release(pointer)); });
}

Status copy(Stream& stream, void* target, const void* source, std::size_t bytes) {
  const auto& state = Internals::state(stream);
  if (!state) return moved_from("Stream");
  return guarded([&] { return translate(device::copy(*state->stream, target, source, bytes)); });
}

Status fill(Stream& stream, void* target, std::uint8_t value, std::size_t bytes) {
  const auto& state = Internals::state(stream);
  if (!state) return moved_from("Stream");
  return guarded([&] { return translate(device::fill(*state->stream, target, value, bytes)); });
}

}  // namespace commrig::v0
