// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/verifier.h"

#include <fmt/format.h>

#include "coll/plan_check.h"
#include "coll/sequence_run.h"

namespace commrig::coll {

Result<PlanSet> make_plan_set(const Algorithm& algorithm, const Request& request,
                              const Tuning& tuning) {
  PlanSet set{request,
              {},
              algorithm.rounding_of(request.collective),
              algorithm.shared_memory,
              std::string(algorithm.name)};
  for (int rank = 0; rank < std::max(1, request.ranks); ++rank) {
    COMMRIG_ASSIGN(RankPlan plan, make_plan(algorithm, request, rank, tuning));
    set.plans.push_back(std::move(plan));
  }
  return set;
}

std::string to_string(const Defect& defect) {
  const std::string where =
      defect.step < 0 ? std::string("caller") : fmt::format("step {}", defect.step);
  return fmt::format("{}: operation {}, rank {}, {}: {}", code_info(defect.code).id,
                     defect.operation, defect.rank, where, defect.what);
}

Verdict verify_sequence(std::span<const PlanSet* const> sequence) {
  int operation = 0;
  for (const PlanSet* const set : sequence) {
    if (set->request.ranks != sequence.front()->request.ranks) {
      return {Defect{Code::kPlanStep, operation, 0, 0, "has another number of ranks"}, {}};
    }
    if (const Status request = check(set->request); !request) {
      return {Defect{request.error().code, operation, 0, 0, request.error().message}, {}};
    }
    if (auto defect = find_malformed_step(*set, operation)) return {std::move(defect), {}};
    ++operation;
  }
  return sequence.empty() ? Verdict{} : SequenceRun(sequence).run();
}

Verdict verify(const PlanSet& set, int operations) {
  const std::vector<const PlanSet*> sequence(static_cast<std::size_t>(operations), &set);
  return verify_sequence(sequence);
}

}  // namespace commrig::coll
