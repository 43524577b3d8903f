// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>

namespace commrig {

// Lets one thread at a time do a job that many threads ask for. Nobody waits: who asks while
// another thread is at it leaves the job to that thread, which then does it once more.
class Strand {
 public:
  // Makes `job()` run at least once from its start after this call began, seeing everything that
  // was written before the call; on this thread, or on the one that is at it. The job may not call
  // run() itself. Thread-safe.
  template <class Job>
  void run(Job&& job) {
    if (asked_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    std::uint64_t seen = 1;
    do {
      job();
      // Fails when somebody has asked meanwhile, and then says how often.
    } while (!asked_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
  }

 private:
  std::atomic<std::uint64_t> asked_{0};  // since the thread inside entered; 0: nobody is inside
};

}  // namespace commrig
