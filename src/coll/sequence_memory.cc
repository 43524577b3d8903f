// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <fmt/format.h>

#include "coll/plan_text.h"
#include "coll/sequence_run.h"

// How a run uses memory, and what it says when it rejects.
namespace commrig::coll {

Access SequenceRun::access_of(int rank, int step) {
  const Rank& self = state(rank);
  return {.rank = rank, .operation = self.operation, .step = step, .time = self.clock[rank]};
}

Place SequenceRun::resolve(int rank, const Place& place) {
  const auto operation = static_cast<std::size_t>(state(rank).operation);
  return overlays_[operation][static_cast<std::size_t>(place.rank)].resolve(place);
}

Contents SequenceRun::read(int rank, const Place& place, std::size_t count, bool in_flight) {
  const Rank& self = state(rank);
  Access access = access_of(rank, step_);
  access.in_flight = in_flight;
  Contents contents;
  const auto conflict = memory_.read({access, self.clock}, resolve(rank, place), count, contents);
  if (conflict) reject_conflict(rank, place, *conflict);
  const bool user_memory = place.buffer == Buffer::kInput || place.buffer == Buffer::kOutput;
  if (user_memory && place.rank != rank && !self.told[static_cast<std::size_t>(place.rank)]) {
    reject(rank, Code::kPlanAddress,
           fmt::format("reads {} without a wait for phase 1 of that rank", to_string(place)));
  }
  std::size_t offset = place.offset;
  for (const Stretch& stretch : contents) {
    const bool of_now = stretch.value.expression != kNothing &&
                        expressions_.operation(stretch.value.expression) == self.operation;
    if (!of_now) {
      reject(rank, Code::kPlanUndefined,
             fmt::format("reads {}, which this operation has not written",
                         to_string({place.buffer, place.rank, offset})));
    }
    offset += stretch.count;
  }
  return contents;
}

void SequenceRun::write(int rank, const Place& place, const Contents& contents) {
  const Rank& self = state(rank);
  const bool user_memory = place.buffer == Buffer::kInput || place.buffer == Buffer::kOutput;
  if (user_memory && place.rank != rank && !self.told[static_cast<std::size_t>(place.rank)]) {
    reject(rank, Code::kPlanAddress,
           fmt::format("writes {} without a wait for phase 1 of that rank", to_string(place)));
  }
  const auto conflict =
      memory_.write({access_of(rank, step_), self.clock}, resolve(rank, place), contents);
  if (conflict) reject_conflict(rank, place, *conflict);
}

// Before an operation, into its output anything and into its input what it is about; after it,
// anything into both.
void SequenceRun::write_as_caller(int rank, int when) {
  Rank& self = state(rank);
  const Request& request = set_of(self).request;
  step_ = when;
  self.clock.tick(rank);
  const std::size_t inputs = input_count(request, rank);
  const Value input{when == kCallerBefore ? expressions_.input(self.operation, rank) : kNothing, 0};
  write(rank, {Buffer::kOutput, rank, 0}, {{output_count(request, rank), {}}});
  write(rank, {Buffer::kInput, rank, 0}, {{inputs, input}});
}

void SequenceRun::reject(int rank, Code code, std::string what, const Access& other) {
  if (verdict_.defect) return;
  const int operation = state(rank).operation;
  Defect defect{code, operation, rank, step_,
                fmt::format("({}) {}", step_text(rank, operation, step_), what)};
  if (other.rank >= 0) {
    defect.peer = other.rank;
    defect.peer_operation = other.operation;
    defect.peer_step = other.step;
  }
  verdict_.defect = std::move(defect);
}

void SequenceRun::reject_conflict(int rank, const Place& place, const Access& earlier) {
  reject(rank, Code::kPlanRace,
         fmt::format("uses {} without an order to what rank {} does in operation {} ({}){}",
                     to_string(place), earlier.rank, earlier.operation,
                     step_text(earlier.rank, earlier.operation, earlier.step),
                     earlier.in_flight ? ", a message still on its way" : ""),
         earlier);
}

// Follows what ranks wait for until one comes twice, or has ended.
void SequenceRun::reject_stuck() {
  int rank = 0;
  while (rank < size() && static_cast<std::size_t>(state(rank).operation) == sequence_.size()) {
    ++rank;
  }
  if (rank == size()) return;
  const auto blocker_of = [&](int stuck) {
    if (static_cast<std::size_t>(state(stuck).operation) == sequence_.size()) {
      return std::optional<Blocker>();
    }
    return find_blocker(stuck);
  };
  std::vector<bool> seen(ranks_.size(), false);
  while (!seen[static_cast<std::size_t>(rank)] && blocker_of(rank)) {
    seen[static_cast<std::size_t>(rank)] = true;
    const Blocker blocker = *blocker_of(rank);
    if (!blocker_of(blocker.peer)) break;  // The peer has nothing left to do.
    rank = blocker.peer;
  }
  std::string text;
  const int first = rank;
  do {
    const std::optional<Blocker> blocker = blocker_of(rank);
    if (!blocker) {
      text += fmt::format(", and rank {} has ended", rank);
      break;
    }
    const Rank& self = state(rank);
    text += fmt::format("{}rank {} waits in operation {} at step {} for {}",
                        text.empty() ? "" : ", ", rank, self.operation, self.step, blocker->what);
    rank = blocker->peer;
  } while (rank != first);
  step_ = static_cast<int>(state(first).step);
  const Blocker blocker = *blocker_of(first);
  const Rank& peer = state(blocker.peer);
  reject(first, Code::kPlanStuck, text,
         {.rank = blocker.peer, .operation = peer.operation, .step = static_cast<int>(peer.step)});
}

std::string SequenceRun::step_text(int rank, int operation, int step) const {
  if (step == kCallerBefore) return "the caller fills its buffers before the operation";
  if (step == kCallerAfter) return "the caller has its buffers back";
  const PlanSet& set = *sequence_[static_cast<std::size_t>(operation)];
  const RankPlan& plan = set.plans[static_cast<std::size_t>(rank)];
  const auto index = static_cast<std::size_t>(step);
  return index < plan.steps.size() ? to_string(plan, plan.steps[index]) : "the end of the plan";
}

}  // namespace commrig::coll
