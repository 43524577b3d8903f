// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faces/cli/bench/operation.h"

namespace commrig::cli::bench {

// What the ranks' inputs hold, and what must come out. Every element depends on its rank and place;
// where inputs are combined they are whole numbers so small that every order of combining them, and
// every rounding on the way, gives the same bits. Places repeat after kPeriod elements, a prime, so
// that a block in a wrong place shows.
class Data {
 public:
  static constexpr std::size_t kPeriod = 4093;

  explicit Data(const Load& load) : load_(load) {}

  // The whole input of a rank.
  void fill_input(int rank, std::span<std::byte> input) const;

  // An input that an operation in place leaves as it is, however often it is done.
  void fill_constant(std::span<std::byte> input) const;

  // Elements of a rank's output that differ from a naive reference: one number after the other,
  // combined in the order of ranks.
  std::uint64_t count_wrong(int rank, std::span<const std::byte> output) const;

 private:
  static constexpr int kAll = -1;
  std::int64_t value(int rank, std::size_t i) const;
  std::int64_t combined(std::size_t i) const;
  std::vector<std::byte> period(int rank, std::size_t first) const;
  std::uint64_t count_wrong_part(int rank, std::size_t first,
                                 std::span<const std::byte> found) const;

  Load load_;
};

}  // namespace commrig::cli::bench
