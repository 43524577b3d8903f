// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>

#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {

RankPlan plan_chain(const Request& request, int rank, const Tuning& tuning) {
  PlanBuilder plan(request, rank);
  const std::size_t chunk = tuning.chunk_count(request);
  const bool first = rank == request.root;
  const bool last = plan.neighbour(1) == request.root;
  for (std::size_t done = 0; done < request.count; done += chunk) {
    const std::size_t count = std::min(chunk, request.count - done);
    if (!first) plan.recv(plan.neighbour(-1), plan.output(done), count);
    if (!last) {
      plan.send(plan.neighbour(1), first ? plan.input(done) : plan.output(done), count);
    }
  }
  if (first) plan.copy(plan.input(), plan.output(), request.count);
  return plan.take();
}

}  // namespace commrig::coll
