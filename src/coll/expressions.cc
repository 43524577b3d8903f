// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/expressions.h"

#include <algorithm>
#include <utility>

namespace commrig::coll {
namespace {

// Sorts, and joins what lies side by side.
std::vector<Contribution> joined(std::vector<Contribution> parts) {
  std::ranges::sort(parts);
  std::vector<Contribution> result;
  for (const Contribution& part : parts) {
    if (!result.empty() && result.back().first + result.back().ranks == part.first &&
        result.back().delta == part.delta) {
      result.back().ranks += part.ranks;
    } else {
      result.push_back(part);
    }
  }
  return result;
}

}  // namespace

ExpressionId Expressions::input(int operation, int rank) {
  const auto [found, is_new] =
      inputs_.try_emplace({operation, rank}, static_cast<ExpressionId>(nodes_.size()));
  if (is_new) nodes_.push_back({operation, {}, {{rank, 1, 0}}});
  return found->second;
}

// The index of a fold is that of its first value, so that equal folds at other places are equal.
Value Expressions::fold(std::span<const Value> values) {
  const std::int64_t at = values.front().at;
  std::vector<Term> terms;
  terms.reserve(values.size());
  for (const Value& value : values) terms.emplace_back(value.expression, value.at - at);
  const auto [found, is_new] =
      folds_.try_emplace(std::move(terms), static_cast<ExpressionId>(nodes_.size()));
  if (is_new) {
    Node node{operation(values.front().expression), found->first, {}};
    for (const auto& [expression, delta] : node.terms) {
      const Node& part = nodes_[expression];
      if (part.operation != node.operation) node.operation = -1;
      for (const Contribution& each : part.contributions) {
        node.contributions.push_back({each.first, each.ranks, each.delta + delta});
      }
    }
    node.contributions = joined(std::move(node.contributions));
    nodes_.push_back(std::move(node));
  }
  return {found->second, at};
}

bool Expressions::is_fold_in_rank_order(ExpressionId id, int ranks) const {
  const std::vector<Term>& terms = nodes_[id].terms;
  if (ranks == 1) return terms.empty();
  if (terms.size() != static_cast<std::size_t>(ranks)) return false;
  int rank = 0;
  for (const auto& [expression, delta] : terms) {
    const Node& node = nodes_[expression];
    if (!node.terms.empty() || delta != 0 || node.contributions.front().first != rank++)
      return false;
  }
  return true;
}

}  // namespace commrig::coll
