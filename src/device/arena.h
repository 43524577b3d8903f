// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/result.h"

namespace commrig::device {

// One segment of an arena, as other processes need it to map it.
struct ArenaSegment {
  std::size_t number = 0;
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  int descriptor = -1;  // borrowed from the arena
};

// Address ranges of shared memory (memfd segments mapped into this process) that simulated device
// memory is cut from. Pages are taken by the first touch, and given back by `discard`. Not
// thread-safe; Memory guards it.
class Arena {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A range of `bytes`, aligned to `alignment` (a power of two, at most kHugePage); its
  // contents are whatever was there before. Fails with kSystemCall when no segment can be made.
  Result<std::byte*> take(std::size_t bytes, std::size_t alignment);

  // Makes the range available to `take` again. It must have been taken as a whole.
  void give_back(std::byte* start, std::size_t bytes);

  // Gives the whole pages inside the range back to the system; they read as zeros afterwards.
  // False when the system refuses; the pages are then as they were.
  bool discard(std::byte* start, std::size_t bytes);

  // Whether the address lies in a segment of the arena.
  bool owns(const std::byte* address) const;

  // The segments from number `first` on; they are numbered in the order of their making. They live
  // as long as the arena, and so do their descriptors.
  std::vector<ArenaSegment> segments_from(std::size_t first) const;
  std::size_t segment_count() const { return segments_.size(); }

 private:
  struct Segment {
    std::byte* base;
    std::size_t bytes;
    int descriptor;
  };
  Status add_segment(std::size_t bytes_at_least);
  const Segment* segment_of(const std::byte* address) const;

  std::vector<Segment> segments_;
  std::map<std::byte*, std::size_t> free_;  // start -> bytes; neighbours are merged
};

}  // namespace commrig::device
