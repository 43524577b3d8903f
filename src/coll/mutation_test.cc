// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "coll/algorithms.h"
#include "coll/interpreter_for_test.h"
#include "coll/mutations_for_test.h"
#include "coll/order_oracle_for_test.h"
#include "coll/plan_text.h"
#include "coll/requests_for_test.h"
#include "coll/verifier.h"

// The verifier is tested by spoiling plans. Whether a spoiled plan still does its duty is decided
// without the verifier, by this rule: it does if and only if
//   - random executions on random 64-bit numbers end, give what a plain reference gives, and where
//     the algorithm claims to fold once in rank order do so for an operation in which order and
//     nesting show; different expressions agree on such numbers with a probability of about 2^-64;
//   - no two conflicting uses of an element lack a path in the graph of steps.
// Every plan that does not must be rejected. One that does is equivalent; where the verifier
// rejects it nevertheless, it is stricter (a read of what nothing wrote, though the result isn't
// used).
namespace commrig::coll {
namespace {

struct Tally {
  int rejected = 0;
  int equivalent = 0;
  int stricter = 0;
};

using Tallies = std::array<Tally, kMutationKinds>;

class Mutations : public testing::TestWithParam<const Algorithm*> {};

// The set five times, and in turns with a broadcast in which most ranks wait for one only, so that
// nothing but a reclaim keeps ranks from getting ahead.
std::vector<std::vector<const PlanSet*>> sequences(const PlanSet& set, const PlanSet& between) {
  return {{&set, &set, &set, &set, &set}, {&set, &between, &set, &between, &set}};
}

std::string find_misbehaviour(const std::vector<std::vector<const PlanSet*>>& sequences,
                              std::uint64_t seed) {
  for (const auto& sequence : sequences) {
    for (std::uint64_t run = 0; run < 2; ++run) {
      for (const FoldKind kind : {FoldKind::kSum, FoldKind::kOrdered}) {
        std::string wrong = run_and_compare(sequence, kind, seed + run);
        if (!wrong.empty()) return wrong;
      }
    }
    std::string wrong = find_disorder(sequence);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::optional<Defect> find_defect(const std::vector<std::vector<const PlanSet*>>& sequences) {
  for (const auto& sequence : sequences) {
    Verdict verdict = verify_sequence(sequence);
    if (verdict.defect) return std::move(verdict.defect);
  }
  return std::nullopt;
}

void try_mutants(const PlanSet& set, std::size_t samples, std::uint64_t seed, Tallies& tallies) {
  Rng rng(seed);
  const PlanSet between =
      make_plan_set(*find_algorithm("slots").value(),
                    {.collective = Collective::kBroadcast, .ranks = set.request.ranks, .count = 2})
          .value();
  const std::vector<Mutation> mutations = list_mutations(set);
  for (std::size_t i = 0; i < std::min(samples, mutations.size()); ++i) {
    const Mutation& mutation =
        mutations[samples < mutations.size() ? rng.below(mutations.size()) : i];
    const PlanSet mutant = mutate(set, mutation);
    const auto runs = sequences(mutant, between);
    Tally& tally = tallies[static_cast<std::size_t>(mutation.kind)];
    const bool rejected = find_defect(runs).has_value();
    const std::string wrong = find_misbehaviour(runs, rng.next());
    if (rejected) {
      ++(wrong.empty() ? tally.stricter : tally.rejected);
    } else if (wrong.empty()) {
      ++tally.equivalent;
    } else {
      ADD_FAILURE() << describe(set) << ": accepted though " << wrong << "\n"
                    << name(mutation.kind) << " at rank " << mutation.rank << ", step "
                    << mutation.step << ", argument " << mutation.argument << " of\n"
                    << to_string(set.plans[mutation.rank]);
    }
  }
}

void print(const Tallies& tallies) {
  for (std::size_t kind = 0; kind < kMutationKinds; ++kind) {
    const Tally& tally = tallies[kind];
    const std::string label(name(static_cast<MutationKind>(kind)));
    std::printf("%-16s rejected %5d, equivalent %4d, rejected though equivalent %4d\n",
                label.c_str(), tally.rejected, tally.equivalent, tally.stricter);
  }
}

TEST_P(Mutations, ThatChangeWhatAPlanDoesAreRejected) {
  const std::uint64_t seed = seed_from_environment(20'250'401);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  Rng rng(seed);
  Tallies tallies{};
  for (const int ranks : {2, 3, 4, 5}) {
    for (const Request& request : small_requests(*GetParam(), ranks)) {
      SCOPED_TRACE(describe(request));
      const PlanSet set = make_plan_set(*GetParam(), request, {.chunk_bytes = 8}).value();
      try_mutants(set, mutants_for_each_plan(), rng.next(), tallies);
    }
  }
  print(tallies);
  EXPECT_GT(tallies[static_cast<std::size_t>(MutationKind::kDropStep)].rejected, 0);
  EXPECT_GT(tallies[static_cast<std::size_t>(MutationKind::kShiftTarget)].rejected, 0);
}

INSTANTIATE_TEST_SUITE_P(EachAlgorithm, Mutations, testing::ValuesIn(algorithm_pointers()),
                         algorithm_test_name);

}  // namespace
}  // namespace commrig::coll
