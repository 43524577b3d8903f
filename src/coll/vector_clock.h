// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commrig::coll {

// How far in each rank's steps something is known to lie behind. L. Lamport, "Time, Clocks, and the
// Ordering of Events in a Distributed System", CACM 21(7), 1978; as vectors: C. Fidge, "Timestamps
// in Message-Passing Systems That Preserve the Partial Ordering", 1988. Comparing single times with
// vectors follows C. Flanagan, S. Freund, "FastTrack: Efficient and Precise Dynamic Race
// Detection", PLDI 2009.
class VectorClock {
 public:
  explicit VectorClock(int ranks) : times_(static_cast<std::size_t>(ranks), 0) {}

  std::uint32_t operator[](int rank) const { return times_[static_cast<std::size_t>(rank)]; }
  void tick(int rank) { ++times_[static_cast<std::size_t>(rank)]; }
  // All that `other` knows happened before what this rank does next.
  void join(const VectorClock& other) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }

 private:
  std::vector<std::uint32_t> times_;
};

}  // namespace commrig::coll
