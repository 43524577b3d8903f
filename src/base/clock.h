// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <chrono>

namespace commrig {

using Nanos = std::chrono::nanoseconds;

// A point in time that never comes.
inline constexpr Nanos kForever = Nanos::max();

// Where time comes from. `now` counts from an arbitrary start and never goes back; it may be called
// on any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanos now() const = 0;
};

// The machine's monotonic clock. Only base calls it; everybody else is given a Clock.
class RealClock final : public Clock {
 public:
  Nanos now() const override;
};

}  // namespace commrig
