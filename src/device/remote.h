// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/guarded.h"
#include "base/result.h"
#include "device/memory.h"

namespace commrig::device {

// Memory that other devices may read and write by a key and an address, as over a network with
// remote direct memory access. Thread-safe.
class RemoteKeys {
 public:
  // Opens the window to others; its key is never 0 and never used for another window again.
  std::uint32_t open(const Window& window);
  void close(std::uint32_t key);

  // The window of `bytes` at `address` inside what the key opens. Fails with kUnknownKey,
  // kOutOfRange, kMisaligned or kFreedPointer.
  Result<Window> resolve(std::uint32_t key, std::uint64_t address, std::size_t bytes,
                         std::size_t alignment = 1) const;

 private:
  struct State {
    std::map<std::uint32_t, Window> open;
    std::uint32_t keys = 0;
  };
  Guarded<State> state_;
};

}  // namespace commrig::device
