// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

#include "base/result.h"

namespace commrig::device {

enum class Progress : std::uint8_t { kPending, kDone };

// One thing to be done on a stream: a copy, a kernel, a plan. It is a state machine: `step` does
// what can be done now and never blocks. Steps of one work are never concurrent but may come from
// different threads. A work that is pending on something either calls Machine::poke when that came,
// or says by may_go_on that it has come, with Machine::stir called by whoever made it come.
class Work {
 public:
  virtual ~Work() = default;

  // Starts or goes on. An error ends the work and sticks to its stream.
  virtual Result<Progress> step() = 0;

  // Whether a step of this pending work would get further. Asked again and again by threads that
  // wait, never during a step; cheap and without side effects.
  virtual bool may_go_on() const { return false; }

  // Whether a step takes so little time that whoever enqueues the work does the first one himself
  // where the stream is idle.
  virtual bool quick() const { return false; }

  // Called instead of step when the stream has failed before, even before the work was put on it:
  // releases whoever depends on it.
  virtual void cancel(const Error& reason) { (void)reason; }
};

}  // namespace commrig::device
