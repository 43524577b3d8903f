// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>

namespace commrig {

// Where threads sleep until somebody has something for them. `sequence` is the futex word; a waker
// that finds no sleepers leaves it alone.
struct alignas(64) SleepPlace {
  std::atomic<std::uint32_t> sequence{0};
  std::atomic<std::uint32_t> sleepers{0};
};

// The sleeping place of a process, in memory that its peers map: they ring it when they have done
// something that a thread of the process may wait for. Nobody needs a service thread for that, so a
// message between processes costs one wake-up and not two. Thread-safe; the words may be shared by
// any number of processes.
struct Door {
  SleepPlace place;
  // How often it was rung; a sleeper compares this with what it read before its last look.
  std::atomic<std::uint64_t> rung{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

// Lets those who sleep at the door look again. Whatever they look for must happen before. Costs two
// atomic operations when nobody sleeps.
void ring(Door& door);

}  // namespace commrig
