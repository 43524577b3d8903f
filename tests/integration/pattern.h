// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dtype/dtype.h"
#include "dtype/reduce.h"

namespace commrig::integration {

// What ranks put into their inputs. Element i of rank r is the same as element i + kPeriod, so that
// large buffers are made and compared quickly; the period is a prime, so that a block in a wrong
// place shows.
class Pattern {
 public:
  static constexpr std::size_t kPeriod = 251;

  // `op` matters where it combines: of a product, factors are 1 and -1, or 1 and 0.
  Pattern(std::uint64_t seed, dtype::Dtype dtype, bool combines, dtype::ReduceOp op, int ranks);

  // Elements `first` and following of the rank's input.
  void fill(int rank, std::size_t first, std::span<std::byte> target) const;

  // The first of the elements in `found` that isn't element `first` + i of the rank's input, or of
  // all ranks' inputs combined (`rank` kAll); found.size() / element bytes if all are right.
  static constexpr int kAll = -1;
  std::size_t first_wrong(int rank, std::size_t first, std::span<const std::byte> found) const;

 private:
  std::vector<std::byte> period(int rank, std::size_t first) const;
  std::int64_t value(int rank, std::size_t i) const;
  std::int64_t combined(std::size_t i) const;

  std::uint64_t seed_;
  dtype::Dtype dtype_;
  bool combines_;
  dtype::ReduceOp op_;
  int ranks_;
};

}  // namespace commrig::integration
