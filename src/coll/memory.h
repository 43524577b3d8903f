// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coll/access_log.h"
#include "coll/expressions.h"
#include "coll/plan.h"

namespace commrig::coll {

// Values for a range of elements, in order and without gaps.
struct Stretch {
  std::size_t count;
  Value value;
};
using Contents = std::vector<Stretch>;

// Cuts both into pieces of the same length and calls function(count, value of a, value of b).
template <class Function>
void zip(const Contents& a, const Contents& b, Function function) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t done_i = 0;
  std::size_t done_j = 0;
  while (i < a.size() && j < b.size()) {
    const std::size_t count = std::min(a[i].count - done_i, b[j].count - done_j);
    function(count, Value{a[i].value.expression, a[i].value.at + static_cast<std::int64_t>(done_i)},
             Value{b[j].value.expression, b[j].value.at + static_cast<std::int64_t>(done_j)});
    done_i += count;
    done_j += count;
    if (done_i == a[i].count) ++i, done_i = 0;
    if (done_j == b[j].count) ++j, done_j = 0;
  }
}

// The buffers of all ranks: what they hold, and who used them. Input and output of an operation in
// place are one buffer.
class Memory {
 public:
  explicit Memory(int ranks) : buffers_(static_cast<std::size_t>(ranks)) {}

  // Who uses memory, and what its rank knows.
  struct Use {
    Access access;
    const VectorClock& clock;
  };

  // `place` is resolved by the overlay; scratch is that of the use's operation. Returns an earlier
  // access that conflicts.
  std::optional<Access> read(const Use& use, const Place& place, std::size_t count,
                             Contents& contents);
  std::optional<Access> write(const Use& use, const Place& place, const Contents& contents);
  // Without a look at who wrote it.
  Contents peek(int operation, const Place& place, std::size_t count);
  void land(const Use& use, const Place& place, std::size_t count);

  std::size_t accesses() const { return accesses_; }

 private:
  struct BufferState {
    AccessLog log{};
    IntervalMap<Value> values{};
  };
  BufferState& buffer(int operation, const Place& place);

  std::vector<std::array<BufferState, 5>> buffers_;
  std::size_t accesses_ = 0;
};

}  // namespace commrig::coll
