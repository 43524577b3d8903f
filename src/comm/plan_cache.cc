// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/plan_cache.h"

#include <algorithm>
#include <utility>

#include "comm/board.h"

namespace commrig::comm {
namespace {

bool same(const coll::Request& a, const coll::Request& b) {
  return a.count == b.count && a.collective == b.collective && a.element_bytes == b.element_bytes &&
         a.root == b.root && a.in_place == b.in_place && a.counts == b.counts;
}

std::size_t working_set(coll::Request request) {
  const bool in_place = std::exchange(request.in_place, false);
  std::size_t all = 0;
  for (int rank = 0; rank < request.ranks; ++rank) {
    const std::size_t in = coll::input_count(request, rank);
    const std::size_t out = coll::output_count(request, rank);
    all += in_place ? std::max(in, out) : in + out;
  }
  return all;
}

bool reads_outputs(const coll::RankPlan& plan) {
  return std::ranges::any_of(plan.steps, [&plan](const coll::Step& step) {
    return std::ranges::any_of(plan.sources(step), [](const coll::Place& place) {
      return place.buffer == coll::Buffer::kOutput;
    });
  });
}

}  // namespace

Result<std::shared_ptr<const KnownPlan>> PlanCache::find(const coll::Request& request) {
  if (last_ < entries_.size() && same(entries_[last_].request, request)) {
    return entries_[last_].plan;
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!same(entries_[i].request, request)) continue;
    last_ = i;
    return entries_[i].plan;
  }
  COMMRIG_ASSIGN(std::shared_ptr<const KnownPlan> plan, make(request));
  last_ = next_;
  if (next_ == entries_.size()) {
    entries_.push_back({request, plan});
  } else {
    entries_[next_] = {request, plan};
  }
  next_ = (next_ + 1) % kEntriesMax;
  return plan;
}

Result<std::shared_ptr<const KnownPlan>> PlanCache::make(const coll::Request& request) const {
  COMMRIG_ASSIGN(const coll::Choice choice,
                 coll::choose(request, options_.capabilities, options_.model, options_.rules));
  const coll::Algorithm& algorithm = *choice.algorithm;
  auto known = std::make_shared<KnownPlan>();
  COMMRIG_ASSIGN(known->plan,
                 coll::make_plan(algorithm, request, rank_, options_.capabilities.tuning));
  known->scratch_in_line = coll::scratch_bytes(algorithm, request) <= kLinePayload;
  known->exposes_buffers = algorithm.shared_memory && !algorithm.small_only;
  known->input_count = coll::input_count(request, rank_);
  known->output_count = coll::output_count(request, rank_);
  known->working_set = working_set(request);
  known->reads_outputs = reads_outputs(known->plan);
  known->salt = static_cast<std::uint32_t>(&algorithm - coll::all_algorithms().data()) + 1;
  return std::shared_ptr<const KnownPlan>(std::move(known));
}

}  // namespace commrig::comm
