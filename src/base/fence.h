// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>

namespace commrig {

// Orders everything before it against everything after it, for all threads that call it: of two
// that each write a word and then read the other's, at least one sees what the other has written.
inline void full_fence() {
#if defined(COMMRIG_TSAN)
  // The thread sanitizer does not model fences; an exchange on a word of its own orders as much.
  static std::atomic<int> fence_word{0};
  fence_word.exchange(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace commrig
