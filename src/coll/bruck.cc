// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {

// Rank r collects the blocks of ranks r, r + 1, ... in private memory: after k messages 2^k of
// them.
RankPlan plan_bruck(const Request& request, int rank, const Tuning& /*tuning*/) {
  PlanBuilder plan(request, rank);
  const Blocks blocks = Blocks::of(request);
  const Circle mine(blocks, rank);
  const int n = request.ranks;
  if (n == 1) {
    plan.copy(plan.input(), plan.output(), blocks.total());
    return plan.take();
  }
  plan.copy(plan.input(), plan.hidden(), blocks[rank].count);
  for (int have = 1; have < n; have *= 2) {
    const int more = std::min(have, n - have);
    const Range arriving = mine.range(have, have + more);
    plan.send(plan.neighbour(-have), plan.hidden(), mine.offset(more));
    plan.recv(plan.neighbour(have), plan.hidden(arriving.offset), arriving.count);
  }
  const Range before_end = mine.range(0, n - rank);
  plan.copy(plan.hidden(), plan.output(blocks.offset(rank)), before_end.count);
  plan.copy(plan.hidden(before_end.count), plan.output(), blocks.offset(rank));
  return plan.take();
}

}  // namespace commrig::coll
