// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/remote.h"

#include <fmt/format.h>

namespace commrig::device {

std::uint32_t RemoteKeys::open(const Window& window) {
  const auto state = state_.lock();
  // Spread out, so that a number that is no key is rarely taken for one.
  constexpr std::uint32_t kStep = 0x9E37'79B1;  // odd: all keys come before one comes again
  state->keys += kStep;
  if (state->keys == 0) state->keys += kStep;
  state->open.emplace(state->keys, window);
  return state->keys;
}

void RemoteKeys::close(std::uint32_t key) {
  state_.lock()->open.erase(key);
}

Result<Window> RemoteKeys::resolve(std::uint32_t key, std::uint64_t address, std::size_t bytes,
                                   std::size_t alignment) const {
  const auto state = state_.lock();
  const auto found = state->open.find(key);
  if (found == state->open.end()) {
    return Error::make(Code::kUnknownKey,
                       fmt::format("key {:#x} for {} bytes at {:#x}", key, bytes, address));
  }
  const Window& window = found->second;
  const auto base = reinterpret_cast<std::uintptr_t>(window.base());
  if (address < base) {
    return Error::make(Code::kOutOfRange,
                       fmt::format("{} bytes at {:#x}, {} bytes before the window that key {:#x} "
                                   "opens",
                                   bytes, address, base - address, key));
  }
  const std::size_t offset = address - base;
  if (!window.permits(offset, bytes, alignment)) return window.refusal(offset, bytes, alignment);
  return window.part(offset, bytes);
}

}  // namespace commrig::device
