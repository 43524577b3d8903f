// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>

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

  // Whether this pending work goes on only after some other work of this process has, or a thread
  // of the program has enqueued one. Asked as may_go_on.
  virtual bool waits_for_works() const { return false; }
  // What it waits for, as a sentence about ranks; empty where others say it. For such works.
  virtual std::string describe_wait() const { return {}; }
  // Nobody is left who could let it go on: it has to end, with this error, when it is stepped next.
  virtual void give_up(const Error& error) { (void)error; }

  // Called instead of step when the stream has failed before, even before the work was put on it:
  // releases whoever depends on it.
  virtual void cancel(const Error& reason) { (void)reason; }
};

}  // namespace commrig::device
