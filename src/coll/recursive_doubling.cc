// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/fold.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {

RankPlan plan_recursive_doubling(const Request& request, int rank, const Tuning& /*tuning*/) {
  PlanBuilder plan(request, rank);
  const std::size_t count = request.count;
  const Fold fold(request.ranks);
  if (request.ranks == 1) plan.copy(plan.input(), plan.output(), count);
  if (fold.sits_out(rank)) {
    plan.send(rank + 1, plan.input(), count);
    plan.drain();  // In place, the result overwrites what was sent.
    plan.recv(rank + 1, plan.output(), count);
    return plan.take();
  }
  Place partial = plan.input();
  if (fold.takes_two(rank)) {
    plan.recv(rank - 1, plan.hidden(), count);
    plan.reduce(plan.hidden(), partial, plan.output(), count);
    partial = plan.output();
  }
  const int me = fold.member_of(rank);
  for (int distance = 1; distance < fold.members(); distance *= 2) {
    const int peer = fold.rank_of(me ^ distance);
    plan.send(peer, partial, count);
    plan.recv(peer, plan.hidden(), count);
    plan.drain();
    // Both fold in the same order, and so get the same bits.
    if ((me & distance) == 0) {
      plan.reduce(partial, plan.hidden(), plan.output(), count);
    } else {
      plan.reduce(plan.hidden(), partial, plan.output(), count);
    }
    partial = plan.output();
  }
  if (fold.takes_two(rank)) plan.send(rank - 1, plan.output(), count);
  return plan.take();
}

}  // namespace commrig::coll
