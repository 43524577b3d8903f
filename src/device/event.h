// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "device/stream.h"

namespace commrig::device {

// A point in a stream. Recording captures what the stream holds at that moment; waiting captures
// the latest record of that moment, and waits for nothing when there is none. Thread-safe. May be
// destroyed while streams still refer to its points.
class Event {
 public:
  // Both return at once; fail when an error sticks to the stream already.
  Status record(Stream& stream);
  Status make_wait(Stream& stream) const;

  // Whether the latest record has been reached; kEventState when there is none. A record on a
  // stream that failed before it counts as reached and carries the stream's error.
  Result<bool> query() const;

  // Waits until the latest record has been reached, advancing every stream of the machine
  // meanwhile.
  Status synchronize(Machine& machine) const;

  // Between two reached records, in nanoseconds of the executor's clock.
  static Result<Nanos> elapsed(const Event& start, const Event& end);

  // One record. Shared between the event, the recording work and the waiting works, any of which
  // may go first.
  struct Point {
    std::atomic<bool> reached{false};
    Nanos time{0};                // valid once reached
    std::optional<Error> failed;  // likewise
  };

 private:
  std::shared_ptr<Point> latest() const { return *latest_.lock(); }
  Guarded<std::shared_ptr<Point>> latest_;
};

}  // namespace commrig::device
