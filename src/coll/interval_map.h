// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "coll/blocks.h"

namespace commrig::coll {

// A value for every element of a buffer, kept once for each stretch of elements that have the same.
template <class T>
class IntervalMap {
 public:
  // Calls function(begin, end, value&) for the stretches that make up `range`. The value may be
  // changed, for this range only.
  template <class Function>
  void visit(Range range, Function function) {
    if (range.count == 0) return;
    const std::size_t last = range.offset + range.count;
    auto stretch = split(range.offset);
    const auto end = split(last);
    while (stretch != end) {
      const auto next = std::next(stretch);
      function(stretch->first, next == pieces_.end() ? last : next->first, stretch->second);
      stretch = next;
    }
  }

  void assign(Range range, T value) {
    if (range.count == 0) return;
    const auto begin = split(range.offset);
    const auto end = split(range.offset + range.count);
    pieces_.erase(std::next(begin), end);
    begin->second = std::move(value);
  }

 private:
  // The stretch that begins at `at`, made if there is none.
  typename std::map<std::size_t, T>::iterator split(std::size_t at) {
    const auto after = pieces_.upper_bound(at);
    const auto holder = std::prev(after);
    if (holder->first == at) return holder;
    return pieces_.emplace_hint(after, at, holder->second);
  }

  // From its key to the next one; the last has no end.
  std::map<std::size_t, T> pieces_{{0, T{}}};
};

}  // namespace commrig::coll
