// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/output_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

using enum Collective;

// "rank 0 input[3] + rank 1 input[3]"
std::string describe(const Expressions& expressions, const Value& value) {
  if (value.expression == kNothing) return "nothing";
  std::string text;
  for (const Contribution& each : expressions.contributions(value.expression)) {
    for (int rank = each.first; rank < each.first + each.ranks; ++rank) {
      if (text.size() > 120) return text + " + ...";
      text += fmt::format("{}rank {} input[{}]", text.empty() ? "" : " + ", rank,
                          value.at + each.delta);
    }
  }
  return text;
}

std::string describe(const Promise& promise, int ranks) {
  if (promise.source != kAllRanks) {
    return fmt::format("rank {} input[{}]", promise.source, promise.at);
  }
  return fmt::format("input[{}] of ranks 0 to {}, each once", promise.at, ranks - 1);
}

}  // namespace

std::vector<Promise> promised_output(const Request& request, int rank) {
  std::vector<Promise> promises;
  const bool has_output = output_count(request, rank) > 0;
  if (!has_output) return promises;
  switch (base_form(request.collective)) {
    case kAllReduce:
    case kReduce:
      promises.push_back({request.count, kAllRanks, 0});
      break;
    case kBroadcast:
      promises.push_back({request.count, request.root, 0});
      break;
    case kReduceScatter:
    case kScatter: {
      const Range mine = Blocks::of(request)[rank];
      const bool folds = has_arithmetic(request.collective);
      promises.push_back({mine.count, folds ? kAllRanks : request.root, mine.offset});
      break;
    }
    case kAllGather:
    case kGather: {
      const Blocks blocks = Blocks::of(request);
      for (int peer = 0; peer < request.ranks; ++peer) {
        promises.push_back({blocks[peer].count, peer, 0});
      }
      break;
    }
    default:
      for (int peer = 0; peer < request.ranks; ++peer) {
        const Range sent = sent_range(request, peer, rank);
        promises.push_back({sent.count, peer, sent.offset});
      }
  }
  std::erase_if(promises, [](const Promise& promise) { return promise.count == 0; });
  return promises;
}

std::optional<OutputCheck::Mistake> OutputCheck::check_stretch(const Expressions& expressions,
                                                               const Promise& promise,
                                                               std::size_t offset,
                                                               const Value& value) const {
  const int ranks = set_.request.ranks;
  const auto at = static_cast<std::int64_t>(promise.at);
  const auto contributions = expressions.contributions(value.expression);
  const bool folded = promise.source == kAllRanks;
  const Contribution expected{folded ? 0 : promise.source, folded ? ranks : 1, at - value.at};
  const bool right = value.expression != kNothing &&
                     expressions.operation(value.expression) == operation_ &&
                     contributions.size() == 1 && contributions.front() == expected;
  if (!right) {
    return Mistake{Code::kPlanContents,
                   fmt::format("output[{}] should hold {}, and holds {}", offset,
                               describe(promise, ranks), describe(expressions, value))};
  }
  if (folded && set_.rounding != Rounding::kPerHop &&
      !expressions.is_fold_in_rank_order(value.expression, ranks)) {
    return Mistake{
        Code::kPlanRounding,
        fmt::format("output[{}] isn't folded in one step in the order of ranks", offset)};
  }
  return std::nullopt;
}

std::optional<OutputCheck::Mistake> OutputCheck::check(const Expressions& expressions, int rank,
                                                       const Contents& output) {
  // Promises and contents have the same length; cut both at each other's borders.
  Contents promised;
  const std::vector<Promise> promises = promised_output(set_.request, rank);
  for (std::size_t i = 0; i < promises.size(); ++i) {
    promised.push_back({promises[i].count, {static_cast<ExpressionId>(i), 0}});
  }
  std::optional<Mistake> mistake;
  std::size_t offset = 0;
  zip(promised, output, [&](std::size_t count, const Value& promise, const Value& value) {
    Promise here = promises[promise.expression];
    here.at += static_cast<std::size_t>(promise.at);
    if (!mistake) mistake = check_stretch(expressions, here, offset, value);
    offset += count;
    ++results_;
  });
  if (mistake || set_.request.collective != kAllReduce) return mistake;
  if (first_rank_ < 0) {
    first_rank_ = rank;
    first_output_ = output;
    return std::nullopt;
  }
  offset = 0;
  zip(first_output_, output, [&](std::size_t count, const Value& first, const Value& value) {
    if (!mistake && first != value) {
      mistake = Mistake{Code::kPlanRounding,
                        fmt::format("output[{}] is folded in another order than that of rank {}",
                                    offset, first_rank_)};
    }
    offset += count;
  });
  return mistake;
}

}  // namespace commrig::coll
