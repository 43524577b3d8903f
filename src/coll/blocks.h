// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coll/plan.h"

namespace commrig::coll {

// Elements [offset, offset + count) of a buffer.
struct Range {
  std::size_t offset = 0;
  std::size_t count = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// How a buffer is divided into consecutive parts. Without counts of its own this takes no memory,
// so that a plan for one of many ranks stays cheap.
class Blocks {
 public:
  // The parts that belong to ranks; not of all-to-all.
  static Blocks of(const Request& request) {
    const auto parts = static_cast<std::size_t>(request.ranks);
    if (!has_counts(request.collective)) return {parts, request.count, 0};
    Blocks blocks(parts, 0, 0);
    blocks.offsets_.reserve(parts + 1);
    std::size_t offset = 0;
    blocks.offsets_.push_back(offset);
    for (const std::size_t count : request.counts) blocks.offsets_.push_back(offset += count);
    return blocks;
  }
  // Parts that differ by one element at most, the larger ones first.
  static Blocks slices(std::size_t total, int parts) {
    const auto n = static_cast<std::size_t>(parts);
    return {n, total / n, total % n};
  }

  int parts() const { return static_cast<int>(parts_); }
  std::size_t offset(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return offsets_.empty() ? i * each_ + std::min(i, larger_) : offsets_[i];
  }
  std::size_t total() const { return offset(parts()); }
  Range operator[](int index) const { return range(index, index + 1); }
  // Parts [begin, end).
  Range range(int begin, int end) const { return {offset(begin), offset(end) - offset(begin)}; }

 private:
  Blocks(std::size_t parts, std::size_t each, std::size_t larger)
      : parts_(parts), each_(each), larger_(larger) {}

  std::size_t parts_;
  std::size_t each_;
  std::size_t larger_;  // so many of the first parts have one element more
  std::vector<std::size_t> offsets_{};
};

// The same parts, counted round the circle from part `start`.
class Circle {
 public:
  Circle(const Blocks& blocks, int start) : blocks_(blocks), start_(start) {}

  // Elements of the first `index` parts, at most all.
  std::size_t offset(int index) const {
    const int end = start_ + index;
    if (end <= blocks_.parts()) return blocks_.range(start_, end).count;
    return blocks_.range(start_, blocks_.parts()).count + blocks_.offset(end - blocks_.parts());
  }
  Range range(int begin, int end) const { return {offset(begin), offset(end) - offset(begin)}; }

 private:
  const Blocks& blocks_;
  int start_;
};

// All-to-all: what `from` sends to `to`, in the input of `from`. `to` may be the number of ranks:
// an empty range at the end.
inline Range sent_range(const Request& request, int from, int to) {
  if (!has_counts(request.collective)) {
    const bool end = to == request.ranks;
    return {static_cast<std::size_t>(to) * request.count, end ? 0 : request.count};
  }
  const auto n = static_cast<std::size_t>(request.ranks);
  const std::size_t row = static_cast<std::size_t>(from) * n;
  Range range;
  for (int i = 0; i < to; ++i) range.offset += request.counts[row + static_cast<std::size_t>(i)];
  if (to < request.ranks) range.count = request.counts[row + static_cast<std::size_t>(to)];
  return range;
}

// The same block in the output of `to`; `from` may be the number of ranks.
inline Range received_range(const Request& request, int to, int from) {
  if (!has_counts(request.collective)) return sent_range(request, to, from);
  const auto n = static_cast<std::size_t>(request.ranks);
  const auto column = static_cast<std::size_t>(to);
  Range range;
  for (int i = 0; i < from; ++i) {
    range.offset += request.counts[static_cast<std::size_t>(i) * n + column];
  }
  if (from < request.ranks)
    range.count = request.counts[static_cast<std::size_t>(from) * n + column];
  return range;
}

}  // namespace commrig::coll
