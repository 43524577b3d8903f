// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

#include "base/result.h"

namespace commrig::device {

enum class Progress : std::uint8_t { kPending, kDone };

// One thing to be done on a stream: a copy, a kernel, a plan. It is a state machine: `step` does
// what can be done now and never blocks. Steps of one work are never concurrent but may come from
// different threads. A work that is pending on something calls Machine::poke when that came.
class Work {
 public:
  virtual ~Work() = default;

  // Starts or goes on. An error ends the work and sticks to its stream.
  virtual Result<Progress> step() = 0;

  // Called instead of step when the stream has failed before: releases whoever depends on it.
  virtual void cancel(const Error& reason) { (void)reason; }
};

}  // namespace commrig::device
