// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/mutations_for_test.h"

#include <algorithm>
#include <array>
#include <utility>

namespace commrig::coll {
namespace {

using enum MutationKind;

bool moves(const Step& step) {
  return step.kind == StepKind::kCopy || step.kind == StepKind::kReduce;
}

bool waits(const Step& step) {
  return step.kind == StepKind::kWait || step.kind == StepKind::kReclaim;
}

bool same(const Place& a, const Place& b) {
  return a.rank == b.rank && a.buffer == b.buffer && a.offset == b.offset;
}

class Lister {
 public:
  explicit Lister(const PlanSet& set) : set_(set) {}

  std::vector<Mutation> list() {
    for (rank_ = 0; rank_ < set_.plans.size(); ++rank_) {
      const RankPlan& plan = set_.plans[rank_];
      for (step_ = 0; step_ < plan.steps.size(); ++step_) {
        list_order(plan, plan.steps[step_]);
        list_places(plan, plan.steps[step_]);
      }
    }
    return std::move(mutations_);
  }

 private:
  void add(MutationKind kind, std::size_t argument = 0) {
    mutations_.push_back({kind, rank_, step_, argument});
  }

  void list_order(const RankPlan& plan, const Step& step) {
    const std::size_t n = set_.plans.size();
    // Without one before the last the phases had a gap, which needs no verifier to see.
    const bool last_signal =
        std::none_of(plan.steps.begin() + static_cast<std::ptrdiff_t>(step_) + 1, plan.steps.end(),
                     [](const Step& later) { return later.kind == StepKind::kSignal; });
    const bool signals = step.kind == StepKind::kSignal;
    if (!signals || last_signal) add(kDropStep);
    if (waits(step) && step.peer == kEveryone) {
      for (std::size_t peer = 0; peer < n; ++peer) {
        if (peer != rank_) add(kForgetPeer, peer);
      }
    }
    if (step.kind == StepKind::kWait && step.phase > 1) add(kLowerPhase);
    if (step.peer != kEveryone && n > 2) add(kOtherPeer);
    if (step_ + 1 < plan.steps.size()) {
      const Step& next = plan.steps[step_ + 1];
      if (!signals || next.kind != StepKind::kSignal) add(kSwapSteps);
    }
  }

  void list_places(const RankPlan& plan, const Step& step) {
    const auto sources = plan.sources(step);
    const auto targets = plan.targets(step);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      add(kShiftSource, i);
      if (moves(step) && sources[i].buffer != Buffer::kPrivate) add(kOtherSource, i);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      add(kShiftTarget, i);
      if (moves(step) && targets[i].buffer != Buffer::kPrivate) add(kOtherTarget, i);
    }
    if (moves(step) && step.count > 1) add(kShorten);
    if (step.kind == StepKind::kSend && step.count > 1) add(kShortMessage);
    for (std::size_t i = 0; step.kind == StepKind::kReduce && i + 1 < sources.size(); ++i) {
      add(kSwapSources, i);
      add(kRepeatSource, i);
      add(kDropSource, i);
    }
    for (std::size_t later = step_ + 1; later < plan.steps.size(); ++later) {
      const Step& other = plan.steps[later];
      if (other.kind == step.kind && other.count == step.count && !sources.empty() &&
          !same(sources[0], plan.sources(other)[0])) {
        add(kSwapBlocks, later);
        break;
      }
    }
  }

  const PlanSet& set_;
  std::size_t rank_ = 0;
  std::size_t step_ = 0;
  std::vector<Mutation> mutations_{};
};

int next_peer(int peer, int rank, int ranks) {
  const int next = (peer + 1) % ranks;
  return next == rank ? (next + 1) % ranks : next;
}

void forget_peer(RankPlan& plan, const Mutation& mutation, int ranks) {
  const Step step = plan.steps[mutation.step];
  auto position = plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(mutation.step));
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == static_cast<int>(mutation.rank) || peer == static_cast<int>(mutation.argument)) {
      continue;
    }
    Step single = step;
    single.peer = peer;
    position = plan.steps.insert(position, single) + 1;
  }
}

// The step of the receiver that takes this message.
Step& receipt_of(PlanSet& set, const Mutation& mutation) {
  const RankPlan& sender = set.plans[mutation.rank];
  const int to = sender.steps[mutation.step].peer;
  const auto end = sender.steps.begin() + static_cast<std::ptrdiff_t>(mutation.step);
  auto number = std::count_if(sender.steps.begin(), end, [to](const Step& step) {
    return step.kind == StepKind::kSend && step.peer == to;
  });
  auto& receiver = set.plans[static_cast<std::size_t>(to)].steps;
  return *std::find_if(receiver.begin(), receiver.end(), [&](const Step& step) {
    return step.kind == StepKind::kRecv && step.peer == static_cast<int>(mutation.rank) &&
           number-- == 0;
  });
}

// Moves one element up, or down where that would leave the buffer.
void shift(Place& place) {
  if (place.offset > 0) {
    --place.offset;
  } else {
    ++place.offset;
  }
}

void drop_source(RankPlan& plan, Step& step, std::size_t index) {
  std::vector<Place> sources(plan.sources(step).begin(), plan.sources(step).end());
  sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(index));
  step.sources_begin = static_cast<std::uint32_t>(plan.places.size());
  plan.places.insert(plan.places.end(), sources.begin(), sources.end());
  step.sources_end = static_cast<std::uint32_t>(plan.places.size());
  if (sources.size() == 1) step.kind = StepKind::kCopy;
}

}  // namespace

std::string_view name(MutationKind kind) {
  static constexpr std::array<std::string_view, kMutationKinds> kNames{
      "step dropped",   "peer forgotten",  "phase lowered",   "other peer",     "steps swapped",
      "blocks swapped", "source shifted",  "target shifted",  "other source",   "other target",
      "copy shortened", "message shorter", "sources swapped", "source dropped", "source repeated"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<Mutation> list_mutations(const PlanSet& set) {
  return Lister(set).list();
}

PlanSet mutate(const PlanSet& set, const Mutation& mutation) {
  PlanSet mutant = set;
  RankPlan& plan = mutant.plans[mutation.rank];
  Step& step = plan.steps[mutation.step];
  const int ranks = set.request.ranks;
  const auto place = [&](std::uint32_t begin) -> Place& {
    return plan.places[begin + mutation.argument];
  };
  switch (mutation.kind) {
    case kDropStep:
      plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(mutation.step));
      break;
    case kForgetPeer:
      forget_peer(plan, mutation, ranks);
      break;
    case kLowerPhase:
      --step.phase;
      break;
    case kOtherPeer:
      step.peer = next_peer(step.peer, static_cast<int>(mutation.rank), ranks);
      break;
    case kSwapSteps:
      std::swap(step, plan.steps[mutation.step + 1]);
      break;
    case kSwapBlocks:
      std::swap(plan.places[step.sources_begin],
                plan.places[plan.steps[mutation.argument].sources_begin]);
      break;
    case kShiftSource:
      shift(place(step.sources_begin));
      break;
    case kShiftTarget:
      shift(place(step.targets_begin));
      break;
    case kOtherSource:
      place(step.sources_begin).rank = (place(step.sources_begin).rank + 1) % ranks;
      break;
    case kOtherTarget:
      place(step.targets_begin).rank = (place(step.targets_begin).rank + 1) % ranks;
      break;
    case kShorten:
      --step.count;
      break;
    case kShortMessage:
      --receipt_of(mutant, mutation).count;
      --step.count;
      break;
    case kSwapSources:
      std::swap(place(step.sources_begin), place(step.sources_begin + 1));
      break;
    case kDropSource:
      drop_source(plan, step, mutation.argument);
      break;
    case kRepeatSource:
      place(step.sources_begin + 1) = place(step.sources_begin);
      break;
  }
  return mutant;
}

}  // namespace commrig::coll
