// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace commrig::coll {

// What an element holds, as the inputs it was made of: an input of a rank, or a fold of such. Equal
// expressions have equal numbers.
using ExpressionId = std::uint32_t;
inline constexpr ExpressionId kNothing = 0;

// A stretch of elements: its i-th one holds `expression` at index `at` + i.
struct Value {
  ExpressionId expression = kNothing;
  std::int64_t at = 0;

  friend bool operator==(const Value&, const Value&) = default;
};

// Inputs of consecutive ranks in an expression; their elements lie `delta` behind the index of the
// expression.
struct Contribution {
  int first;  // rank
  int ranks;
  std::int64_t delta;

  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

class Expressions {
 public:
  Expressions() : nodes_(1) {}

  // The input of `rank` in operation `operation`.
  ExpressionId input(int operation, int rank);
  // The fold of at least two values, in this order and rounded once.
  Value fold(std::span<const Value> values);

  // The operation that all inputs in it belong to; -1 if it is nothing, or they belong to several.
  int operation(ExpressionId id) const { return nodes_[id].operation; }
  // Every input in it, as often as it occurs, by rank; in as few parts as can be if none occurs
  // twice.
  std::span<const Contribution> contributions(ExpressionId id) const {
    return nodes_[id].contributions;
  }
  // The inputs of ranks 0 to n - 1 at one index, folded in this order in one step.
  bool is_fold_in_rank_order(ExpressionId id, int ranks) const;

 private:
  // A term of a fold: another expression, and how far its index is ahead.
  using Term = std::pair<ExpressionId, std::int64_t>;
  struct Node {
    int operation = -1;
    std::vector<Term> terms{};  // none: an input
    std::vector<Contribution> contributions{};
  };

  std::vector<Node> nodes_;
  std::map<std::pair<int, int>, ExpressionId> inputs_{};
  std::map<std::vector<Term>, ExpressionId> folds_{};
};

}  // namespace commrig::coll
