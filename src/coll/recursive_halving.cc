// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <vector>

#include "coll/blocks.h"
#include "coll/fold.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Members [begin, end) whose parts a rank still works on.
struct Window {
  int begin;
  int end;
};

struct Exchange {
  int peer;
  Window kept;
  Window given;
};

class Halving {
 public:
  Halving(const Request& request, int rank)
      : rank_(rank),
        fold_(request.ranks),
        plan_(request, rank),
        all_reduce_(request.collective == Collective::kAllReduce),
        blocks_(all_reduce_ ? Blocks::slices(request.count, request.ranks) : Blocks::of(request)),
        sums_(all_reduce_ ? plan_.output() : plan_.hidden()),
        arriving_(plan_.hidden(all_reduce_ ? 0 : blocks_.total())) {}

  RankPlan make() {
    if (plan_.ranks() == 1) {
      plan_.copy(plan_.input(), plan_.output(), blocks_.total());
    } else if (fold_.sits_out(rank_)) {
      plan_.send(rank_ + 1, plan_.input(), blocks_.total());
      plan_.drain();  // In place, the result overwrites what was sent.
      plan_.recv(rank_ + 1, plan_.output(), result_of(rank_).count);
    } else {
      halve();
      if (all_reduce_) gather();
      if (fold_.takes_two(rank_)) {
        plan_.send(rank_ - 1, sums_ + result_of(rank_ - 1).offset, result_of(rank_ - 1).count);
      }
      if (!all_reduce_) {
        plan_.copy(sums_ + result_of(rank_).offset, plan_.output(), result_of(rank_).count);
      }
    }
    return plan_.take();
  }

 private:
  Range result_of(int rank) const {
    return all_reduce_ ? Range{0, blocks_.total()} : blocks_[rank];
  }
  Range range(Window window) const {
    return blocks_.range(fold_.first_rank(window.begin), fold_.first_rank(window.end));
  }

  void halve() {
    Place partial = plan_.input();
    if (fold_.takes_two(rank_)) {
      plan_.recv(rank_ - 1, arriving_, blocks_.total());
      plan_.reduce(arriving_, partial, sums_, blocks_.total());
      partial = sums_;
    }
    const int me = fold_.member_of(rank_);
    Window window{0, fold_.members()};
    while (window.end - window.begin > 1) {
      const int half = (window.end - window.begin) / 2;
      const Window lower{window.begin, window.begin + half};
      const Window upper{window.begin + half, window.end};
      const bool low = me < lower.end;
      const Exchange exchange{fold_.rank_of(low ? me + half : me - half), low ? lower : upper,
                              low ? upper : lower};
      const Range given = range(exchange.given);
      const Range kept = range(exchange.kept);
      plan_.send(exchange.peer, partial + given.offset, given.count);
      plan_.recv(exchange.peer, arriving_, kept.count);
      const Place own = partial + kept.offset;
      plan_.reduce(low ? own : arriving_, low ? arriving_ : own, sums_ + kept.offset, kept.count);
      exchanges_.push_back(exchange);
      window = exchange.kept;
      partial = sums_;
    }
  }

  // The same exchanges from last to first: what a rank has for what it gave away.
  void gather() {
    plan_.drain();
    for (auto exchange = exchanges_.rbegin(); exchange != exchanges_.rend(); ++exchange) {
      const Range kept = range(exchange->kept);
      const Range given = range(exchange->given);
      plan_.send(exchange->peer, sums_ + kept.offset, kept.count);
      plan_.recv(exchange->peer, sums_ + given.offset, given.count);
    }
  }

  int rank_;
  Fold fold_;
  PlanBuilder plan_;
  bool all_reduce_;
  Blocks blocks_;
  Place sums_;
  Place arriving_;
  std::vector<Exchange> exchanges_{};
};

}  // namespace

RankPlan plan_recursive_halving(const Request& request, int rank, const Tuning& /*tuning*/) {
  return Halving(request, rank).make();
}

}  // namespace commrig::coll
