// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

namespace commrig::mc2 {

// Device addresses [start, start + bytes), whose end fits 64 bits.
struct Range {
  std::uint64_t start;
  std::uint64_t bytes;

  // Whether the ranges share a byte; an empty one shares none.
  bool overlaps(const Range& other) const {
    return bytes != 0 && other.bytes != 0 && start < other.start + other.bytes &&
           other.start < start + bytes;
  }
};

}  // namespace commrig::mc2
