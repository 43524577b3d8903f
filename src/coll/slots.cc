// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <vector>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Where in the scratch of `peer` lies what this rank needs, and where in its own output it goes. A
// rank that gives puts its whole input into its scratch.
struct Piece {
  std::size_t from;
  Range to;
};

class Slots {
 public:
  Slots(const Request& request, int rank)
      : request_(request),
        rank_(rank),
        plan_(request, rank),
        blocks_(base_form(request.collective) == Collective::kAllToAll
                    ? Blocks::slices(0, request.ranks)
                    : Blocks::of(request)) {}

  RankPlan make() {
    switch (base_form(request_.collective)) {
      case Collective::kAllReduce:
        give();
        plan_.wait(kEveryone, 1);
        fold(0, request_.count);
        break;
      case Collective::kReduceScatter: {
        const Range mine = blocks_[rank_];
        give();
        plan_.wait(kEveryone, 1);
        fold(mine.offset, mine.count);
        break;
      }
      case Collective::kAllGather:
      case Collective::kAllToAll:
        give();
        plan_.wait(kEveryone, 1);
        take_from_all();
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
  // The scratch was last used two operations ago, and may still be read for that one by anybody:
  // that operation need not have been of the same kind.
  void give() {
    const std::size_t count = input_count(request_, rank_);
    if (plan_.ranks() == 1) return;
    if (count > 0) plan_.reclaim();
    plan_.copy(plan_.input(), plan_.scratch(), count);
    plan_.signal();
  }

  void fold(std::size_t offset, std::size_t count) {
    std::vector<Place> sources;
    for (int peer = 0; peer < plan_.ranks(); ++peer) {
      sources.push_back(peer == rank_ ? plan_.input(offset) : scratch_of(peer, offset));
    }
    plan_.reduce(sources, plan_.output(), count);
  }

  // In place, what all-to-all puts down may lie where its own block still is.
  void take_from_all() {
    const bool moves_own = request_.in_place && plan_.ranks() > 1 &&
                           base_form(request_.collective) == Collective::kAllToAll;
    for (int distance = 1; distance <= plan_.ranks(); ++distance) {
      const int peer = plan_.neighbour(distance);
      const auto [from, to] = piece_of(peer);
      const Place source = peer == rank_ && !moves_own ? plan_.input(from) : scratch_of(peer, from);
      plan_.copy(source, plan_.output(to.offset), to.count);
    }
  }

  Piece piece_of(int peer) const {
    if (base_form(request_.collective) == Collective::kAllToAll) {
      return {sent_range(request_, peer, rank_).offset, received_range(request_, rank_, peer)};
    }
    return {0, blocks_[peer]};
  }

  void to_root() {
    if (rank_ != request_.root) return give();
    plan_.wait(kEveryone, 1);
    if (request_.collective == Collective::kReduce) {
      fold(0, request_.count);
    } else {
      take_from_all();
    }
  }

  void from_root() {
    const bool parts = base_form(request_.collective) == Collective::kScatter;
    const Range mine = parts ? blocks_[rank_] : Range{0, request_.count};
    if (rank_ == request_.root) {
      give();
      plan_.copy(plan_.input(mine.offset), plan_.output(), mine.count);
    } else if (mine.count > 0) {
      plan_.wait(request_.root, 1);
      plan_.copy(scratch_of(request_.root, mine.offset), plan_.output(), mine.count);
    }
  }

  const Request& request_;
  int rank_;
  PlanBuilder plan_;
  Blocks blocks_;  // not of all-to-all
};

}  // namespace

RankPlan plan_slots(const Request& request, int rank, const Tuning& /*tuning*/) {
  return Slots(request, rank).make();
}

}  // namespace commrig::coll
