// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <vector>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Phase 1: the input may be read, and the output may not be written yet by anybody else. Phase 2
// (for rooted collectives 1): this rank reads no more, so that its peers may end.
class Direct {
 public:
  Direct(const Request& request, int rank) : request_(request), rank_(rank), plan_(request, rank) {}

  RankPlan make() {
    switch (base_form(request_.collective)) {
      case Collective::kAllReduce:
        all_reduce();
        break;
      case Collective::kReduceScatter:
        reduce_scatter();
        break;
      case Collective::kAllGather:
        all_gather();
        break;
      case Collective::kAllToAll:
        all_to_all();
        break;
      case Collective::kReduce:
      case Collective::kGather:
        to_root();
        break;
      default:  // broadcast, scatter
        from_root();
    }
    return plan_.take();
  }

 private:
  // Nobody may write into what others still read: in place, the result waits in private memory.
  void all_reduce() {
    const bool aside = request_.in_place && plan_.ranks() > 1;
    plan_.signal();
    plan_.wait(kEveryone, 1);
    fold(0, request_.count, aside ? plan_.hidden() : plan_.output());
    leave();
    if (aside) plan_.copy(plan_.hidden(), plan_.output(), request_.count);
  }

  // In place is no matter: only this rank reads its block, and that in the same step.
  void reduce_scatter() {
    const Range mine = Blocks::of(request_)[rank_];
    plan_.signal();
    plan_.wait(kEveryone, 1);
    fold(mine.offset, mine.count, plan_.output());
    leave();
  }

  void all_gather() {
    const Blocks blocks = Blocks::of(request_);
    plan_.signal();
    plan_.copy(plan_.input(), plan_.output(blocks.offset(rank_)), blocks[rank_].count);
    for (int distance = 1; distance < plan_.ranks(); ++distance) {
      const int peer = plan_.neighbour(distance);
      take(input_of(peer), plan_.output(blocks.offset(peer)), blocks[peer].count);
    }
    leave();
  }

  void all_to_all() {
    const bool aside = request_.in_place;
    plan_.signal();
    for (int distance = 1; distance <= plan_.ranks(); ++distance) {
      const int peer = plan_.neighbour(distance);
      const Range to = received_range(request_, rank_, peer);
      const Place target = aside ? plan_.hidden(to.offset) : plan_.output(to.offset);
      take(input_of(peer, sent_range(request_, peer, rank_).offset), target, to.count);
    }
    leave();
    if (aside) plan_.copy(plan_.hidden(), plan_.output(), output_count(request_, rank_));
  }

  void to_root() {
    if (rank_ != request_.root) {
      plan_.signal();
      plan_.wait(request_.root, 1);
      return;
    }
    if (request_.collective == Collective::kReduce) {
      plan_.wait(kEveryone, 1);
      fold(0, request_.count, plan_.output());
    } else {
      const Blocks blocks = Blocks::of(request_);
      for (int distance = 1; distance <= plan_.ranks(); ++distance) {
        const int peer = plan_.neighbour(distance);
        take(input_of(peer), plan_.output(blocks.offset(peer)), blocks[peer].count);
      }
    }
    plan_.signal();
  }

  void from_root() {
    const bool parts = base_form(request_.collective) == Collective::kScatter;
    const Range mine = parts ? Blocks::of(request_)[rank_] : Range{0, request_.count};
    const Place source = input_of(request_.root, mine.offset);
    if (rank_ == request_.root) plan_.signal();
    take(source, plan_.output(), mine.count);
    if (rank_ != request_.root) return plan_.signal();
    plan_.wait(kEveryone, 1);
  }

  void fold(std::size_t offset, std::size_t count, Place target) {
    std::vector<Place> sources;
    for (int peer = 0; peer < plan_.ranks(); ++peer) sources.push_back(input_of(peer, offset));
    plan_.reduce(sources, target, count);
  }

  void take(Place source, Place target, std::size_t count) {
    if (count > 0 && source.rank != rank_) plan_.wait(source.rank, 1);
    plan_.copy(source, target, count);
  }

  void leave() {
    plan_.signal();
    plan_.wait(kEveryone, 2);
  }

  const Request& request_;
  int rank_;
  PlanBuilder plan_;
};

}  // namespace

RankPlan plan_direct(const Request& request, int rank, const Tuning& /*tuning*/) {
  return Direct(request, rank).make();
}

}  // namespace commrig::coll
