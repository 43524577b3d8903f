// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coll/interval_map.h"
#include "coll/vector_clock.h"

namespace commrig::coll {

// Who used memory: a step of a rank in an operation, or its caller.
struct Access {
  int rank = -1;
  int operation = 0;
  int step = 0;
  std::uint32_t time = 0;  // of the rank's clock
  bool in_flight = false;  // a message is being sent from here, until a drain
};

// Every use of one buffer, as far as a later one can conflict with it.
class AccessLog {
 public:
  // Notes the access; `clock` is what its rank knows. Returns an earlier access that conflicts with
  // it: one of the two writes, and they have no order.
  std::optional<Access> read(Range range, const Access& access, const VectorClock& clock);
  std::optional<Access> write(Range range, const Access& access, const VectorClock& clock);
  // The messages that the rank has sent from here have gone: it read until now.
  void land(Range range, const Access& access);

 private:
  struct Uses {
    Access write{};
    std::vector<Access> reads{};  // since that write, the last of each rank
  };
  IntervalMap<Uses> uses_{};
};

}  // namespace commrig::coll
