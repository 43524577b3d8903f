// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/executor.h"
#include "base/guarded.h"

namespace commrig {

// The threads that sleep in poll(2), so that an abort can wake them: each watches an eventfd beside
// its own descriptors. Eventfds are kept and used again. Thread-safe.
class Pollers {
 public:
  // As Executor::poll.
  Status poll(const PollSpec& spec, const Clock& clock);
  // Lets every sleeper look at its abort flag and its deadline again.
  void wake_all();

 private:
  struct Bells {
    std::vector<Descriptor> idle;
    std::vector<int> in_use;
  };
  class Turn;  // the use of one eventfd during one wait

  Guarded<Bells> bells_;
};

}  // namespace commrig
