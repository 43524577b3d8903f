// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/wait.h"

#include <atomic>

namespace commrig {
namespace {

template <class T>
std::uint64_t load_word(const void* address) {
  // atomic_ref needs a mutable object even for a load; nothing is written.
  auto& word = *static_cast<T*>(const_cast<void*>(address));
  return std::atomic_ref<T>(word).load(std::memory_order_acquire);
}

}  // namespace

std::uint64_t WordCondition::found() const {
  return bytes == 4 ? load_word<std::uint32_t>(address) : load_word<std::uint64_t>(address);
}

bool WordCondition::satisfied() const {
  return holds(compare, found(), value);
}

}  // namespace commrig
