// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <vector>

#include "coll/plan_builder.h"
#include "coll/plans.h"

namespace commrig::coll {
namespace {

// Nodes are ranks counted from the root; node i has the children 2i + 1 and 2i + 2.
class Tree {
 public:
  Tree(const Request& request, int rank, std::size_t chunk)
      : request_(request),
        chunk_(std::min(chunk, request.count)),
        plan_(request, rank),
        n_(request.ranks),
        root_(has_root(request.collective) ? request.root : 0),
        node_((rank - root_ + n_) % n_) {
    for (int child = 2 * node_ + 1; child <= 2 * node_ + 2 && child < n_; ++child) {
      children_.push_back((child + root_) % n_);
    }
  }

  RankPlan make() {
    if (request_.collective != Collective::kBroadcast) up();
    if (request_.collective == Collective::kAllReduce) {
      plan_.drain();  // In place, what was sent up is overwritten now.
      down(plan_.output());
    }
    if (request_.collective == Collective::kBroadcast) {
      down(plan_.input());
      if (node_ == 0) plan_.copy(plan_.input(), plan_.output(), request_.count);
    }
    return plan_.take();
  }

 private:
  int parent() const { return ((node_ - 1) / 2 + root_) % n_; }

  // A node inside the tree has two private areas for sums in turn: one is sent while the next is
  // made. Behind them lie the chunks that arrive.
  void up() {
    bool odd = false;
    for (std::size_t done = 0; done < request_.count; done += chunk_, odd = !odd) {
      const std::size_t count = std::min(chunk_, request_.count - done);
      const bool leaf = children_.empty();
      std::vector<Place> sources{plan_.input(done)};
      for (const int child : children_) {
        sources.push_back(plan_.hidden(chunk_ * (1 + sources.size())));
        plan_.recv(child, sources.back(), count);
      }
      if (node_ == 0) {
        plan_.reduce(sources, plan_.output(done), count);
        continue;
      }
      const Place sum = plan_.hidden(odd ? chunk_ : 0);
      if (!leaf) {
        if (done >= 2 * chunk_) plan_.drain();
        plan_.reduce(sources, sum, count);
      }
      plan_.send(parent(), leaf ? sources.front() : sum, count);
    }
  }

  void down(Place at_root) {
    for (std::size_t done = 0; done < request_.count; done += chunk_) {
      const std::size_t count = std::min(chunk_, request_.count - done);
      const Place source = node_ == 0 ? at_root + done : plan_.output(done);
      if (node_ != 0) plan_.recv(parent(), source, count);
      for (const int child : children_) plan_.send(child, source, count);
    }
  }

  const Request& request_;
  std::size_t chunk_;
  PlanBuilder plan_;
  int n_;
  int root_;
  int node_;
  std::vector<int> children_{};
};

}  // namespace

RankPlan plan_tree(const Request& request, int rank, const Tuning& tuning) {
  return Tree(request, rank, tuning.chunk_count(request)).make();
}

}  // namespace commrig::coll
