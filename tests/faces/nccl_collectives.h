// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/faces/ranks.h"

// What tests of collectives share: inputs that every type holds, and buffers for all ranks.
namespace commrig::faces {

inline constexpr std::size_t kCount = 67;  // elements a rank; no multiple of anything

struct Op {
  ncclRedOp_t op;
  const char* name;
};
inline constexpr Op kOps[] = {
    {ncclSum, "sum"}, {ncclProd, "prod"}, {ncclMax, "max"}, {ncclMin, "min"}, {ncclAvg, "avg"}};

// Small numbers whose sums, products and averages every type holds; products of 8-bit integers
// wrap.
inline double input(ncclRedOp_t op, int ranks, int rank, std::size_t i) {
  if (op == ncclProd) return static_cast<double>((static_cast<std::size_t>(rank) + i) % 2 + 1);
  if (op == ncclAvg) return rank == 0 ? ranks * static_cast<double>(i % 2 + 1) : 0;
  return static_cast<double>((static_cast<std::size_t>(rank) + i) % 3 == 0);
}

inline double reduced(ncclRedOp_t op, int ranks, std::size_t i) {
  double result = input(op, ranks, 0, i);
  for (int r = 1; r < ranks; ++r) {
    const double next = input(op, ranks, r, i);
    if (op == ncclProd) {
      result *= next;
    } else if (op == ncclMax || op == ncclMin) {
      result = op == ncclMax ? std::max(result, next) : std::min(result, next);
    } else {
      result += next;
    }
  }
  return op == ncclAvg ? result / ranks : result;
}

// A value of its own for each rank and element, within 8 bits.
inline double mark(int rank, std::size_t i) {
  return static_cast<double>((static_cast<std::size_t>(rank) * 3 + i) % 8);
}

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
  std::size_t all() const { return kCount * static_cast<std::size_t>(ranks()); }

  // A buffer for each rank, of `count` elements that `value` gives.
  std::vector<Buffer> buffers(const Type& type, std::size_t count,
                              const std::function<double(int, std::size_t)>& value) const {
    std::vector<Buffer> made;
    for (int r = 0; r < ranks(); ++r) {
      made.emplace_back(r, elements(type, count, [&](std::size_t i) { return value(r, i); }));
    }
    return made;
  }
  std::vector<Buffer> empty(const Type& type, std::size_t count) const {
    return buffers(type, count, [](int, std::size_t) { return 5; });
  }
};

}  // namespace commrig::faces
