// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/plan_check.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "coll/plan_text.h"

namespace commrig::coll {
namespace {

struct Extents {
  std::size_t input;
  std::size_t output;
  Overlay overlay;
};

bool overlap(const Place& a, const Place& b, std::size_t count) {
  return a.rank == b.rank && a.buffer == b.buffer && a.offset < b.offset + count &&
         b.offset < a.offset + count;
}

class StepCheck {
 public:
  StepCheck(const PlanSet& set, int operation) : set_(set), operation_(operation) {
    for (int rank = 0; rank < set.request.ranks; ++rank) {
      extents_.push_back({input_count(set.request, rank), output_count(set.request, rank),
                          overlay(set.request, rank)});
    }
  }

  std::optional<Defect> check() {
    for (rank_ = 0; rank_ < set_.request.ranks; ++rank_) {
      const RankPlan& plan = plan_of(rank_);
      phase_ = 0;
      for (step_ = 0; step_ < plan.steps.size(); ++step_) {
        if (auto defect = check_step(plan, plan.steps[step_])) return defect;
      }
    }
    return std::nullopt;
  }

 private:
  const RankPlan& plan_of(int rank) const { return set_.plans[static_cast<std::size_t>(rank)]; }

  Defect malformed(std::string what, Code code = Code::kPlanStep) const {
    const Step& step = plan_of(rank_).steps[step_];
    return {code, operation_, rank_, static_cast<int>(step_),
            fmt::format("({}) {}", to_string(plan_of(rank_), step), what)};
  }

  bool is_rank(int rank) const { return rank >= 0 && rank < set_.request.ranks; }

  std::optional<Defect> check_step(const RankPlan& plan, const Step& step) {
    const bool moves = step.kind == StepKind::kCopy || step.kind == StepKind::kReduce;
    const bool synchronises = step.kind == StepKind::kSignal || step.kind == StepKind::kWait ||
                              step.kind == StepKind::kReclaim;
    const bool is_message = step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
    if (step.sources_begin > step.sources_end || step.sources_end > plan.places.size() ||
        step.targets_begin > step.targets_end || step.targets_end > plan.places.size()) {
      return Defect{Code::kPlanStep, operation_, rank_, static_cast<int>(step_),
                    fmt::format("({}) its places lie outside the plan's", name(step.kind))};
    }
    if (synchronises && !set_.shared_memory) {
      return malformed("needs shared memory, which the algorithm does without");
    }
    if (!has_right_places(step)) return malformed("has the wrong number of sources or targets");
    if (step.kind == StepKind::kSignal && step.phase != ++phase_) {
      return malformed(fmt::format("phases grow by one, expected {}", phase_));
    }
    if (step.kind == StepKind::kWait && step.phase == 0) return malformed("phases begin at 1");
    const bool everyone =
        (step.kind == StepKind::kWait || step.kind == StepKind::kReclaim) && step.peer == kEveryone;
    const bool has_peer =
        is_message || step.kind == StepKind::kWait || step.kind == StepKind::kReclaim;
    if (has_peer && !everyone && (!is_rank(step.peer) || step.peer == rank_)) {
      return malformed("its peer is not another rank");
    }
    for (const Place& place : plan.sources(step)) {
      if (auto defect = check_place(place, step.count, moves)) return defect;
    }
    for (const Place& place : plan.targets(step)) {
      if (place.buffer == Buffer::kInput) return malformed("writes an input");
      if (auto defect = check_place(place, step.count, moves)) return defect;
    }
    return check_overlaps(plan, step);
  }

  static bool has_right_places(const Step& step) {
    const auto sources = step.sources_end - step.sources_begin;
    const auto targets = step.targets_end - step.targets_begin;
    switch (step.kind) {
      case StepKind::kCopy:
        return sources == 1 && targets >= 1;
      case StepKind::kReduce:
        return sources >= 2 && targets >= 1;
      case StepKind::kSend:
        return sources == 1 && targets == 0;
      case StepKind::kRecv:
        return sources == 0 && targets == 1;
      default:
        return sources == 0 && targets == 0;
    }
  }

  std::optional<Defect> check_place(const Place& place, std::size_t count, bool may_be_foreign) {
    if (!is_rank(place.rank)) return malformed("names no rank");
    if (place.rank != rank_ &&
        (!may_be_foreign || !set_.shared_memory || place.buffer == Buffer::kPrivate)) {
      return malformed(fmt::format("may not name a buffer of rank {}", place.rank));
    }
    const std::size_t size = size_of(place);
    if (count > size || place.offset > size - count) {
      return malformed(fmt::format("{} has {} elements", to_string(place), size),
                       Code::kPlanBounds);
    }
    return std::nullopt;
  }

  std::size_t size_of(const Place& place) const {
    const Extents& extents = extents_[static_cast<std::size_t>(place.rank)];
    switch (place.buffer) {
      case Buffer::kInput:
        return extents.input;
      case Buffer::kOutput:
        return extents.output;
      case Buffer::kScratch:
        return plan_of(place.rank).scratch_count;
      default:
        return plan_of(place.rank).private_count;
    }
  }

  Place resolve(const Place& place) const {
    return extents_[static_cast<std::size_t>(place.rank)].overlay.resolve(place);
  }

  std::optional<Defect> check_overlaps(const RankPlan& plan, const Step& step) const {
    const auto targets = plan.targets(step);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Place target = resolve(targets[i]);
      for (std::size_t j = 0; j < i; ++j) {
        if (overlap(target, resolve(targets[j]), step.count)) {
          return malformed("two of its targets overlap");
        }
      }
      for (const Place& each : plan.sources(step)) {
        const Place source = resolve(each);
        const bool exact = step.kind == StepKind::kReduce && source.offset == target.offset;
        if (overlap(target, source, step.count) && !exact) {
          return malformed("a target overlaps a source");
        }
      }
    }
    return std::nullopt;
  }

  const PlanSet& set_;
  int operation_;
  std::vector<Extents> extents_{};
  int rank_ = 0;
  std::size_t step_ = 0;
  std::uint32_t phase_ = 0;
};

struct Message {
  int from;
  int to;
  std::size_t count;
  int step;  // of the sender or the receiver

  auto pair() const { return std::pair(from, to); }
  auto order() const { return std::tuple(from, to, step); }
};

// In the order of each pair's messages.
std::vector<Message> list_messages(const PlanSet& set, StepKind kind) {
  std::vector<Message> messages;
  for (int rank = 0; rank < set.request.ranks; ++rank) {
    int number = 0;
    for (const Step& step : set.plans[static_cast<std::size_t>(rank)].steps) {
      if (step.kind == kind) {
        const bool sends = kind == StepKind::kSend;
        messages.push_back(
            {sends ? rank : step.peer, sends ? step.peer : rank, step.count, number});
      }
      ++number;
    }
  }
  // Between two ranks in the order of the steps.
  std::ranges::sort(messages, {}, &Message::order);
  return messages;
}

std::optional<Defect> find_unmatched_message(const PlanSet& set, int operation) {
  const std::vector<Message> sent = list_messages(set, StepKind::kSend);
  const std::vector<Message> received = list_messages(set, StepKind::kRecv);
  for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    const bool only_sent =
        i >= received.size() || (i < sent.size() && sent[i].pair() < received[i].pair());
    const bool only_received =
        i >= sent.size() || (i < received.size() && received[i].pair() < sent[i].pair());
    if (only_sent) {
      return Defect{Code::kPlanMessages,
                    operation,
                    sent[i].from,
                    sent[i].step,
                    fmt::format("sends rank {} a message of {} elements that it doesn't receive",
                                sent[i].to, sent[i].count),
                    sent[i].to,
                    operation};
    }
    if (only_received) {
      return Defect{
          Code::kPlanMessages,
          operation,
          received[i].to,
          received[i].step,
          fmt::format("receives from rank {} a message that it doesn't send", received[i].from),
          received[i].from,
          operation};
    }
    if (sent[i].count != received[i].count) {
      return Defect{Code::kPlanMessages,
                    operation,
                    received[i].to,
                    received[i].step,
                    fmt::format("receives {} elements from rank {}, which sends {}",
                                received[i].count, received[i].from, sent[i].count),
                    sent[i].from,
                    operation,
                    sent[i].step};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Defect> find_malformed_step(const PlanSet& set, int operation) {
  if (set.plans.size() != static_cast<std::size_t>(set.request.ranks)) {
    return Defect{Code::kPlanStep, operation, 0, 0,
                  fmt::format("{} plans for {} ranks", set.plans.size(), set.request.ranks)};
  }
  if (auto defect = StepCheck(set, operation).check()) return defect;
  return find_unmatched_message(set, operation);
}

}  // namespace commrig::coll
