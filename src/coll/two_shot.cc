// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <vector>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {

// In place is no matter: a slice is read and written by one rank, in one step.
RankPlan plan_two_shot(const Request& request, int rank, const Tuning& /*tuning*/) {
  PlanBuilder plan(request, rank);
  const Range mine = Blocks::slices(request.count, request.ranks)[rank];
  std::vector<Place> sources;
  std::vector<Place> targets;
  for (int peer = 0; peer < request.ranks; ++peer) {
    sources.push_back(input_of(peer, mine.offset));
    if (request.collective == Collective::kAllReduce || peer == request.root) {
      targets.push_back(output_of(peer, mine.offset));
    }
  }
  plan.signal();
  plan.wait(kEveryone, 1);
  plan.reduce(sources, targets, mine.count);
  // All have read what is this rank's, and written what it gets.
  plan.signal();
  plan.wait(kEveryone, 2);
  return plan.take();
}

}  // namespace commrig::coll
