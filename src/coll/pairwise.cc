// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <vector>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

class Pairwise {
 public:
  Pairwise(const Request& request, int rank)
      : request_(request), rank_(rank), plan_(request, rank) {}

  RankPlan make() {
    switch (base_form(request_.collective)) {
      case Collective::kAllReduce: {
        const Blocks slices = Blocks::slices(request_.count, request_.ranks);
        reduce_scatter(slices, plan_.output(slices.offset(rank_)));
        plan_.drain();  // In place, what was sent is overwritten now.
        all_gather(slices, plan_.output(slices.offset(rank_)));
        break;
      }
      case Collective::kReduceScatter:
        reduce_scatter(Blocks::of(request_), plan_.output());
        break;
      case Collective::kAllGather: {
        const Blocks blocks = Blocks::of(request_);
        plan_.copy(plan_.input(), plan_.output(blocks.offset(rank_)), blocks[rank_].count);
        all_gather(blocks, plan_.input());
        break;
      }
      case Collective::kAllToAll:
        all_to_all();
        break;
      case Collective::kReduce:
        reduce();
        break;
      case Collective::kGather:
        gather();
        break;
      default:  // broadcast, scatter
        from_root();
    }
    return plan_.take();
  }

 private:
  // Part p of every input goes to rank p, which folds them in the order of ranks.
  void reduce_scatter(const Blocks& blocks, Place target) {
    const Range mine = blocks[rank_];
    std::vector<Place> sources(static_cast<std::size_t>(plan_.ranks()), plan_.input(mine.offset));
    std::size_t kept = 0;
    for (int distance = 1; distance < plan_.ranks(); ++distance) {
      const int to = plan_.neighbour(distance);
      const int from = plan_.neighbour(-distance);
      plan_.send(to, plan_.input(blocks.offset(to)), blocks[to].count);
      plan_.recv(from, plan_.hidden(kept), mine.count);
      sources[static_cast<std::size_t>(from)] = plan_.hidden(kept);
      kept += mine.count;
    }
    plan_.reduce(sources, target, mine.count);
  }

  void all_gather(const Blocks& blocks, Place own) {
    for (int distance = 1; distance < plan_.ranks(); ++distance) {
      const int from = plan_.neighbour(-distance);
      plan_.send(plan_.neighbour(distance), own, blocks[rank_].count);
      plan_.recv(from, plan_.output(blocks.offset(from)), blocks[from].count);
    }
  }

  // In place, the input is put aside first, since what arrives would overwrite it.
  void all_to_all() {
    const bool aside = request_.in_place && plan_.ranks() > 1;
    if (aside) plan_.copy(plan_.input(), plan_.hidden(), input_count(request_, rank_));
    for (int distance = 0; distance < plan_.ranks(); ++distance) {
      const int to = plan_.neighbour(distance);
      const int from = plan_.neighbour(-distance);
      const Range sent = sent_range(request_, rank_, to);
      const Range received = received_range(request_, rank_, from);
      const Place source = aside ? plan_.hidden(sent.offset) : plan_.input(sent.offset);
      if (distance == 0) {
        plan_.copy(source, plan_.output(received.offset), sent.count);
      } else {
        plan_.send(to, source, sent.count);
        plan_.recv(from, plan_.output(received.offset), received.count);
      }
    }
  }

  void reduce() {
    if (rank_ != request_.root) return plan_.send(request_.root, plan_.input(), request_.count);
    std::vector<Place> sources;
    std::size_t kept = 0;
    for (int peer = 0; peer < plan_.ranks(); ++peer) {
      sources.push_back(peer == rank_ ? plan_.input() : plan_.hidden(kept));
      if (peer == rank_) continue;
      plan_.recv(peer, plan_.hidden(kept), request_.count);
      kept += request_.count;
    }
    plan_.reduce(sources, plan_.output(), request_.count);
  }

  void gather() {
    const Blocks blocks = Blocks::of(request_);
    if (rank_ != request_.root) {
      return plan_.send(request_.root, plan_.input(), blocks[rank_].count);
    }
    plan_.copy(plan_.input(), plan_.output(blocks.offset(rank_)), blocks[rank_].count);
    for (int distance = 1; distance < plan_.ranks(); ++distance) {
      const int peer = plan_.neighbour(distance);
      plan_.recv(peer, plan_.output(blocks.offset(peer)), blocks[peer].count);
    }
  }

  void from_root() {
    const bool parts = base_form(request_.collective) == Collective::kScatter;
    const Blocks blocks = parts ? Blocks::of(request_) : Blocks::slices(0, request_.ranks);
    const auto part = [&](int rank) { return parts ? blocks[rank] : Range{0, request_.count}; };
    if (rank_ != request_.root) {
      return plan_.recv(request_.root, plan_.output(), part(rank_).count);
    }
    for (int distance = 1; distance < plan_.ranks(); ++distance) {
      const int peer = plan_.neighbour(distance);
      plan_.send(peer, plan_.input(part(peer).offset), part(peer).count);
    }
    plan_.copy(plan_.input(part(rank_).offset), plan_.output(), part(rank_).count);
  }

  const Request& request_;
  int rank_;
  PlanBuilder plan_;
};

}  // namespace

RankPlan plan_pairwise(const Request& request, int rank, const Tuning& /*tuning*/) {
  return Pairwise(request, rank).make();
}

}  // namespace commrig::coll
