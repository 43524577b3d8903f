// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/timeline.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace commrig::coll {
namespace {

class Layout {
 public:
  explicit Layout(const PlanSet& set) : set_(set), phases_(set.plans.size()) {
    timeline_.rows.resize(set.plans.size());
  }

  Timeline make() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < set_.request.ranks; ++rank) {
        while (place_next(rank)) moved = true;
      }
    }
    for (const auto& rows : timeline_.rows) {
      if (!rows.empty()) timeline_.end = std::max(timeline_.end, rows.back() + 1);
    }
    return std::move(timeline_);
  }

 private:
  std::vector<std::size_t>& rows_of(int rank) {
    return timeline_.rows[static_cast<std::size_t>(rank)];
  }

  bool place_next(int rank) {
    auto& rows = rows_of(rank);
    const auto& steps = set_.plans[static_cast<std::size_t>(rank)].steps;
    if (rows.size() == steps.size()) return false;
    const Step& step = steps[rows.size()];
    const auto causes = causes_of(rank, step);
    if (!causes) return false;
    const StepId here{rank, rows.size()};
    std::size_t row = rows.empty() ? 0 : rows.back() + 1;
    for (const StepId& cause : *causes) {
      row = std::max(row, rows_of(cause.rank)[cause.step] + 1);
      timeline_.arrows.push_back({cause, here, step.kind == StepKind::kRecv});
    }
    if (step.kind == StepKind::kRecv) messages_[{step.peer, rank}].pop_front();
    if (step.kind == StepKind::kSend) messages_[{rank, step.peer}].push_back(here);
    if (step.kind == StepKind::kSignal) phases_[static_cast<std::size_t>(rank)].push_back(here);
    rows.push_back(row);
    return true;
  }

  // The steps of peers that must be done before; nothing while one of them is not.
  std::optional<std::vector<StepId>> causes_of(int rank, const Step& step) {
    std::vector<StepId> causes;
    if (step.kind == StepKind::kRecv) {
      auto& queue = messages_[{step.peer, rank}];
      if (queue.empty()) return std::nullopt;
      causes.push_back(queue.front());
    }
    if (step.kind != StepKind::kWait) return causes;
    for (int peer = 0; peer < set_.request.ranks; ++peer) {
      if (peer == rank || (step.peer != kEveryone && step.peer != peer)) continue;
      const auto& phases = phases_[static_cast<std::size_t>(peer)];
      if (phases.size() >= step.phase) {
        causes.push_back(phases[step.phase - 1]);
      } else if (rows_of(peer).size() < set_.plans[static_cast<std::size_t>(peer)].steps.size()) {
        return std::nullopt;
      }
    }
    return causes;
  }

  const PlanSet& set_;
  Timeline timeline_{};
  std::vector<std::vector<StepId>> phases_;
  std::map<std::pair<int, int>, std::deque<StepId>> messages_{};
};

}  // namespace

Timeline lay_out(const PlanSet& set) {
  return Layout(set).make();
}

}  // namespace commrig::coll
