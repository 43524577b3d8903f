// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/algorithms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

using enum Collective;

double log2_up(double n) {
  return std::ceil(std::log2(n));
}
double log2_down(double n) {
  return std::floor(std::log2(n));
}
// 1 where ranks beyond a power of two have to be folded in first.
double uneven(double n) {
  return log2_up(n) > log2_down(n) ? 1 : 0;
}
// The part of a buffer that belongs to others.
double others(const Size& s) {
  return s.bytes * (s.n - 1) / s.n;
}
double chunks(const Size& s) {
  return std::max(1.0, std::ceil(s.bytes / s.chunk));
}

constexpr std::array kSlots{
    Form{
        kAllReduce, "1 flag", "copies S, folds nS",
        [](const Size& s) { return Work{.flags = 1, .copied = s.bytes, .folded = s.n * s.bytes}; }},
    Form{
        kReduce, "1 flag", "copies S, root folds nS",
        [](const Size& s) { return Work{.flags = 1, .copied = s.bytes, .folded = s.n * s.bytes}; }},
    Form{kBroadcast, "1 flag", "copies 2S",
         [](const Size& s) { return Work{.flags = 1, .copied = 2 * s.bytes}; }},
    Form{kAllGather, "1 flag", "copies S + S/n",
         [](const Size& s) { return Work{.flags = 1, .copied = s.bytes + s.bytes / s.n}; }},
    Form{kReduceScatter, "1 flag", "copies S, folds S",
         [](const Size& s) { return Work{.flags = 1, .copied = s.bytes, .folded = s.bytes}; }},
    Form{kAllToAll, "1 flag", "copies 2S",
         [](const Size& s) { return Work{.flags = 1, .copied = 2 * s.bytes}; }},
    Form{kGather, "1 flag", "root copies S, others S/n",
         [](const Size& s) { return Work{.flags = 1, .copied = s.bytes + s.bytes / s.n}; }},
    Form{kScatter, "1 flag", "root copies S, others S/n",
         [](const Size& s) { return Work{.flags = 1, .copied = s.bytes + s.bytes / s.n}; }},
};

constexpr std::array kDirect{
    Form{kAllReduce, "2 flags", "folds nS",
         [](const Size& s) { return Work{.flags = 2, .folded = s.n * s.bytes}; }},
    Form{kReduce, "2 flags", "root folds nS",
         [](const Size& s) { return Work{.flags = 2, .folded = s.n * s.bytes}; }},
    Form{kBroadcast, "2 flags", "copies S",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes}; }},
    Form{kAllGather, "2 flags", "copies S",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes}; }},
    Form{kReduceScatter, "2 flags", "folds S",
         [](const Size& s) { return Work{.flags = 2, .folded = s.bytes}; }},
    Form{kAllToAll, "2 flags", "copies S",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes}; }},
    Form{kGather, "2 flags", "root copies S",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes}; }},
    Form{kScatter, "2 flags", "each copies S/n",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes / s.n}; }},
};

constexpr std::array kTwoShot{
    Form{kAllReduce, "2 flags", "folds S, copies S",
         [](const Size& s) { return Work{.flags = 2, .copied = s.bytes, .folded = s.bytes}; }},
    Form{
        kReduce, "2 flags", "folds S, copies S/n",
        [](const Size& s) { return Work{.flags = 2, .copied = s.bytes / s.n, .folded = s.bytes}; }},
};

constexpr std::array kPairwise{
    Form{kAllReduce, "2(n-1) messages", "sends 2S(n-1)/n",
         [](const Size& s) {
           return Work{.messages = 2 * (s.n - 1), .sent = 2 * others(s), .folded = s.bytes};
         }},
    Form{kReduce, "n-1 messages to root", "root gets S(n-1)",
         [](const Size& s) {
           return Work{.messages = s.n - 1, .sent = s.bytes * (s.n - 1), .folded = s.n * s.bytes};
         }},
    Form{kBroadcast, "n-1 messages of root", "root sends S(n-1)",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = s.bytes * (s.n - 1)}; }},
    Form{kAllGather, "n-1 messages", "sends S(n-1)/n",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = others(s)}; }},
    Form{kReduceScatter, "n-1 messages", "sends S(n-1)/n",
         [](const Size& s) {
           return Work{.messages = s.n - 1, .sent = others(s), .folded = s.bytes};
         }},
    Form{kAllToAll, "n-1 messages", "sends S(n-1)/n",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = others(s)}; }},
    Form{kGather, "n-1 messages to root", "root gets S(n-1)/n",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = others(s)}; }},
    Form{kScatter, "n-1 messages of root", "root sends S(n-1)/n",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = others(s)}; }},
};

constexpr std::array kRing{
    Form{kAllReduce, "2(n-1) messages", "sends 2S(n-1)/n",
         [](const Size& s) {
           return Work{.messages = 2 * (s.n - 1), .sent = 2 * others(s), .folded = 2 * others(s)};
         }},
    Form{kReduceScatter, "n-1 messages", "sends S(n-1)/n",
         [](const Size& s) {
           return Work{.messages = s.n - 1, .sent = others(s), .folded = 2 * others(s)};
         }},
    Form{kAllGather, "n-1 messages", "sends S(n-1)/n",
         [](const Size& s) { return Work{.messages = s.n - 1, .sent = others(s)}; }},
};

constexpr std::array kDoubling{
    Form{kAllReduce, "log2(n) messages, +2 if n isn't a power of 2", "sends S log2(n)",
         [](const Size& s) {
           const double steps = log2_down(s.n) + 2 * uneven(s.n);
           const double folds = log2_down(s.n) + uneven(s.n);
           return Work{.messages = steps, .sent = steps * s.bytes, .folded = 2 * folds * s.bytes};
         }},
};

constexpr std::array kHalving{
    Form{kAllReduce, "2 log2(n) messages, +2 if n isn't a power of 2", "sends 2S(n-1)/n",
         [](const Size& s) {
           const double extra = uneven(s.n);
           return Work{.messages = 2 * (log2_down(s.n) + extra),
                       .sent = 2 * (others(s) + extra * s.bytes),
                       .folded = 2 * (others(s) + extra * s.bytes)};
         }},
    Form{kReduceScatter, "log2(n) messages, +2 if n isn't a power of 2", "sends S(n-1)/n",
         [](const Size& s) {
           const double extra = uneven(s.n);
           return Work{.messages = log2_down(s.n) + 2 * extra,
                       .sent = others(s) + extra * (s.bytes + s.bytes / s.n),
                       .copied = s.bytes / s.n,
                       .folded = 2 * (others(s) + extra * s.bytes)};
         }},
};

constexpr std::array kBruck{
    Form{kAllGather, "ceil(log2(n)) messages", "sends S(n-1)/n, copies S + S/n",
         [](const Size& s) {
           return Work{
               .messages = log2_up(s.n), .sent = others(s), .copied = s.bytes + s.bytes / s.n};
         }},
};

constexpr std::array kBinomial{
    Form{kReduce, "ceil(log2(n)) messages", "root gets S ceil(log2(n))",
         [](const Size& s) {
           const double steps = log2_up(s.n);
           return Work{.messages = steps, .sent = steps * s.bytes, .folded = 2 * steps * s.bytes};
         }},
    Form{kBroadcast, "ceil(log2(n)) messages", "root sends S ceil(log2(n))",
         [](const Size& s) {
           return Work{.messages = log2_up(s.n), .sent = log2_up(s.n) * s.bytes};
         }},
    Form{kGather, "ceil(log2(n)) messages", "root gets S(n-1)/n",
         [](const Size& s) { return Work{.messages = log2_up(s.n), .sent = others(s)}; }},
    Form{kScatter, "ceil(log2(n)) messages", "root sends S(n-1)/n",
         [](const Size& s) { return Work{.messages = log2_up(s.n), .sent = others(s)}; }},
};

// With c chunks a tree of d levels takes d + c - 1 rounds, in each of which a node exchanges a
// chunk with each of two children.
Work tree_work(const Size& s, double up, double down) {
  const double rounds = log2_down(s.n) + chunks(s) - 1;
  const double chunk = s.bytes / chunks(s);
  if (s.n == 1) return {.copied = s.bytes};
  return {.messages = 2 * (up + down) * rounds,
          .sent = (2 * up + 2 * down) * rounds * chunk,
          .folded = up * 3 * rounds * chunk};
}

constexpr std::array kTree{
    Form{kAllReduce, "4(d+c-1) messages, d = floor(log2(n))", "inner rank sends 3S, gets 3S",
         [](const Size& s) { return tree_work(s, 1, 1); }},
    Form{kReduce, "2(d+c-1) messages, d = floor(log2(n))", "inner rank sends S, gets 2S",
         [](const Size& s) { return tree_work(s, 1, 0); }},
    Form{kBroadcast, "2(d+c-1) messages, d = floor(log2(n))", "inner rank sends 2S, gets S",
         [](const Size& s) { return tree_work(s, 0, 1); }},
};

constexpr std::array kChain{
    Form{kBroadcast, "n+c-2 messages", "sends S",
         [](const Size& s) {
           const double rounds = s.n + chunks(s) - 2;
           return Work{.messages = rounds, .sent = rounds * s.bytes / chunks(s)};
         }},
};

constexpr std::array kAlgorithms{
    Algorithm{"slots", "data beside a flag, in scratch; everybody reads it there", true,
              Rounding::kOnce, true, plan_slots, kSlots},
    Algorithm{"direct", "each rank reads the inputs of all where they lie", true, Rounding::kOnce,
              false, plan_direct, kDirect},
    Algorithm{"two-shot", "each rank folds a slice of all inputs and writes it to all outputs",
              true, Rounding::kOnce, false, plan_two_shot, kTwoShot},
    Algorithm{"pairwise", "a message between each two ranks", false, Rounding::kOnce, false,
              plan_pairwise, kPairwise},
    Algorithm{"ring", "each rank passes parts on to the next", false, Rounding::kPerHop, false,
              plan_ring, kRing},
    Algorithm{"recursive-doubling", "whole vectors between ranks at doubling distance", false,
              Rounding::kPerHop, false, plan_recursive_doubling, kDoubling},
    Algorithm{"recursive-halving", "halves, quarters, ... and back (Rabenseifner)", false,
              Rounding::kPerHop, false, plan_recursive_halving, kHalving},
    Algorithm{"bruck", "blocks collected at doubling distance, for any number of ranks", false,
              Rounding::kPerHop, false, plan_bruck, kBruck},
    Algorithm{"binomial", "a binomial tree of whole messages", false, Rounding::kPerHop, false,
              plan_binomial, kBinomial},
    Algorithm{"tree", "a binary tree, in chunks", false, Rounding::kPerHop, false, plan_tree,
              kTree},
    Algorithm{"chain", "each rank passes chunks on to the next", false, Rounding::kPerHop, false,
              plan_chain, kChain},
};

}  // namespace

std::string_view name(Rounding rounding) {
  static constexpr std::array<std::string_view, 3> kNames{"never", "once, in rank order",
                                                          "per hop"};
  return kNames.at(static_cast<std::size_t>(rounding));
}

const Form* Algorithm::form(Collective collective) const {
  const auto found = std::ranges::find(forms, base_form(collective), &Form::collective);
  return found == forms.end() ? nullptr : &*found;
}

std::span<const Algorithm> all_algorithms() {
  return kAlgorithms;
}

Result<const Algorithm*> find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm& each : kAlgorithms) {
    if (each.name == name) return &each;
    known += known.empty() ? "" : ", ";
    known += each.name;
  }
  return Error::make(Code::kUnknownAlgorithm,
                     fmt::format("algorithm \"{}\"; expected one of {}", name, known));
}

// Whoever gives puts its whole input into its scratch, and the root of reduce and gather nothing.
std::size_t scratch_bytes(const Algorithm& algorithm, const Request& request) {
  if (!algorithm.small_only || request.ranks == 1) return 0;
  std::size_t most = 0;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const bool receives = rank == request.root && has_root(request.collective) &&
                          base_form(request.collective) != kBroadcast &&
                          base_form(request.collective) != kScatter;
    if (!receives) most = std::max(most, input_count(request, rank));
    if (!has_counts(request.collective) && !has_root(request.collective)) break;  // All are alike.
  }
  return most * request.element_bytes;
}

Result<RankPlan> make_plan(const Algorithm& algorithm, const Request& request, int rank,
                           const Tuning& tuning) {
  COMMRIG_TRY(check(request));
  if (rank < 0 || rank >= request.ranks) {
    return Error::make(Code::kCollectiveRanks,
                       fmt::format("rank {}; expected 0 to {}", rank, request.ranks - 1));
  }
  if (algorithm.form(request.collective) == nullptr) {
    return Error::make(Code::kNoAlgorithm, fmt::format("{} has no plan for {}", algorithm.name,
                                                       name(request.collective)));
  }
  return algorithm.plan(request, rank, tuning);
}

}  // namespace commrig::coll
