// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coll/plans.h"

namespace commrig::coll {

enum class Rounding : std::uint8_t {
  kNever,   // moves data only
  kOnce,    // folds all inputs in one step, in the order of ranks
  kPerHop,  // passes partial sums on, each rounded
};
std::string_view name(Rounding rounding);

// What one rank, the busiest, does on the longest way through a plan. Messages are counted with all
// that must pass before the last one is there; bytes are those that this rank sends, copies, or
// reads to fold.
struct Work {
  double flags = 0;     // waits for a flag of a peer
  double messages = 0;  // one after the other
  double sent = 0;      // bytes
  double copied = 0;
  double folded = 0;
};

struct Size {
  double n = 1;      // ranks
  double bytes = 0;  // of the largest buffer of a rank: size_in_bytes()
  double chunk = 1;  // bytes of a chunk
};

// One collective (and its V form) of one algorithm.
struct Form {
  Collective collective;
  std::string_view steps;  // flags or messages, as a formula
  std::string_view bytes;  // sent, or copied and folded
  Work (*work)(const Size&);
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;
  bool shared_memory;
  Rounding rounding;  // of the collectives that reduce
  // Its data lie in scratch, which is small: scratch_bytes() says what it takes.
  bool small_only;
  PlanFunction plan;
  std::span<const Form> forms;

  // Null where it has no plan for the collective.
  const Form* form(Collective collective) const;
  Rounding rounding_of(Collective collective) const {
    return has_arithmetic(collective) ? rounding : Rounding::kNever;
  }
};

// THE table. A row more is tested, listed and chosen by itself.
std::span<const Algorithm> all_algorithms();

// Otherwise kUnknownAlgorithm, with the names.
Result<const Algorithm*> find_algorithm(std::string_view name);

// The most scratch that a rank needs, in bytes; 0 for algorithms without.
std::size_t scratch_bytes(const Algorithm& algorithm, const Request& request);

// The plan of one rank, after all checks: of the request, the rank, and that the algorithm has one.
Result<RankPlan> make_plan(const Algorithm& algorithm, const Request& request, int rank,
                           const Tuning& tuning = {});

}  // namespace commrig::coll
