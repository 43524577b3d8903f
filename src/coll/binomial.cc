// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>

#include "coll/blocks.h"
#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Nodes are ranks counted from the root. The parent of a node lacks its lowest bit; a node has the
// nodes behind it up to the next one with as low a bit as its subtree.
class Binomial {
 public:
  Binomial(const Request& request, int rank)
      : request_(request),
        plan_(request, rank),
        n_(request.ranks),
        node_((rank - request.root + n_) % n_),
        low_(node_ == 0 ? n_ : node_ & -node_) {}

  RankPlan make() {
    switch (base_form(request_.collective)) {
      case Collective::kReduce:
        reduce();
        break;
      case Collective::kBroadcast:
        broadcast();
        break;
      case Collective::kGather:
        gather();
        break;
      default:
        scatter();
    }
    return plan_.take();
  }

 private:
  int rank_of(int node) const { return (node + request_.root) % n_; }
  int parent() const { return rank_of(node_ - low_); }
  // Distances to the children, in doubling steps.
  bool is_child(int distance) const { return distance < low_ && node_ + distance < n_; }
  int last_child() const {
    int distance = 0;
    for (int next = 1; is_child(next); next *= 2) distance = next;
    return distance;
  }

  void reduce() {
    const std::size_t count = request_.count;
    Place partial = plan_.input();
    const Place sum = node_ == 0 ? plan_.output() : plan_.hidden(count);
    if (n_ == 1) plan_.copy(partial, sum, count);
    for (int distance = 1; is_child(distance); distance *= 2) {
      plan_.recv(rank_of(node_ + distance), plan_.hidden(), count);
      plan_.reduce(partial, plan_.hidden(), sum, count);
      partial = sum;
    }
    if (node_ != 0) plan_.send(parent(), partial, count);
  }

  void broadcast() {
    const std::size_t count = request_.count;
    if (node_ != 0) plan_.recv(parent(), plan_.output(), count);
    for (int distance = last_child(); distance > 0; distance /= 2) {
      plan_.send(rank_of(node_ + distance), node_ == 0 ? plan_.input() : plan_.output(), count);
    }
    if (node_ == 0) plan_.copy(plan_.input(), plan_.output(), count);
  }

  // Calls function(first, end) for the nodes of the subtree at `node`, whose blocks lie one behind
  // the other; in a buffer of the root they may begin again at its start, and are then two parts.
  template <class Function>
  void each_part(int node, bool at_root, Function function) const {
    const int end = std::min(n_, node + (node & -node));
    const int wrap = n_ - request_.root;  // the node that is rank 0
    if (at_root && node < wrap && wrap < end) {
      function(node, wrap);
      function(wrap, end);
    } else {
      function(node, end);
    }
  }

  void gather() {
    const Blocks blocks = Blocks::of(request_);
    const Circle mine(blocks, rank_of(node_));
    const Circle all(blocks, request_.root);
    const bool leaf = last_child() == 0;
    const Place own = node_ == 0 ? plan_.output(blocks.offset(request_.root)) : plan_.hidden();
    if (node_ == 0 || !leaf) plan_.copy(plan_.input(), own, blocks[rank_of(node_)].count);
    for (int distance = 1; is_child(distance); distance *= 2) {
      each_part(node_ + distance, node_ == 0, [&](int first, int end) {
        const Place target = node_ == 0 ? plan_.output(blocks.offset(rank_of(first)))
                                        : plan_.hidden(mine.offset(first - node_));
        plan_.recv(rank_of(node_ + distance), target, all.range(first, end).count);
      });
    }
    if (node_ == 0) return;
    each_part(node_, node_ == low_, [&](int first, int end) {
      const Place source = leaf ? plan_.input() : plan_.hidden(mine.offset(first - node_));
      plan_.send(parent(), source, all.range(first, end).count);
    });
  }

  void scatter() {
    const Blocks blocks = Blocks::of(request_);
    const Circle mine(blocks, rank_of(node_));
    const Circle all(blocks, request_.root);
    const bool leaf = last_child() == 0;
    const std::size_t own_count = blocks[rank_of(node_)].count;
    if (node_ != 0) {
      each_part(node_, node_ == low_, [&](int first, int end) {
        const Place target = leaf ? plan_.output() : plan_.hidden(mine.offset(first - node_));
        plan_.recv(parent(), target, all.range(first, end).count);
      });
    }
    for (int distance = last_child(); distance > 0; distance /= 2) {
      each_part(node_ + distance, node_ == 0, [&](int first, int end) {
        const Place source = node_ == 0 ? plan_.input(blocks.offset(rank_of(first)))
                                        : plan_.hidden(mine.offset(first - node_));
        plan_.send(rank_of(node_ + distance), source, all.range(first, end).count);
      });
    }
    const Place own = node_ == 0 ? plan_.input(blocks.offset(request_.root)) : plan_.hidden();
    if (node_ == 0 || !leaf) plan_.copy(own, plan_.output(), own_count);
  }

  const Request& request_;
  PlanBuilder plan_;
  int n_;
  int node_;
  int low_;
};

}  // namespace

RankPlan plan_binomial(const Request& request, int rank, const Tuning& /*tuning*/) {
  return Binomial(request, rank).make();
}

}  // namespace commrig::coll
