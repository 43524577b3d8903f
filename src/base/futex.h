// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/door.h"

namespace commrig {

// Whether a word is waited for and woken by threads of one process only, or of any that maps it.
enum class Reach : std::uint8_t { kProcess, kHost };

// Sleeps while the word holds `seen`, for `timeout` at most; may return at any time. Only base
// calls it: everybody else waits through an Executor.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos timeout,
                Reach reach);
// Wakes everybody who sleeps on the word.
void futex_wake_all(const std::atomic<std::uint32_t>& word, Reach reach);

// Makes the sleepers of the place look again once they are woken; false when there are none.
inline bool announce(SleepPlace& place) {
  // The exchange orders the caller's writes before the look at the sleepers; its counterpart is the
  // announcement of whoever goes to sleep. All sleepers are woken, so the count starts again.
  if (place.sleepers.exchange(0, std::memory_order_acq_rel) == 0) return false;
  place.sequence.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

}  // namespace commrig
