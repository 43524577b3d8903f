// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/sequence_run.h"

#include <fmt/format.h>

#include "coll/plan_text.h"

namespace commrig::coll {

SequenceRun::SequenceRun(std::span<const PlanSet* const> sequence)
    : sequence_(sequence), memory_(sequence.front()->request.ranks) {
  const int n = sequence.front()->request.ranks;
  ranks_.assign(static_cast<std::size_t>(n), Rank{.clock = VectorClock(n)});
  int operation = 0;
  for (const PlanSet* const set : sequence) {
    outputs_.emplace_back(*set, operation++);
    overlays_.emplace_back();
    for (int rank = 0; rank < n; ++rank) overlays_.back().push_back(overlay(set->request, rank));
  }
}

Verdict SequenceRun::run() {
  verdict_.proof.operations = sequence_.size();
  for (bool moved = true; moved && !verdict_.defect;) {
    moved = false;
    for (int rank = 0; rank < size() && !verdict_.defect; ++rank) {
      while (!verdict_.defect && advance(rank)) moved = true;
    }
  }
  if (!verdict_.defect) reject_stuck();
  verdict_.proof.accesses = memory_.accesses();
  for (const OutputCheck& output : outputs_) verdict_.proof.results += output.results();
  return std::move(verdict_);
}

bool SequenceRun::advance(int rank) {
  Rank& self = state(rank);
  if (static_cast<std::size_t>(self.operation) == sequence_.size()) return false;
  if (!self.begun) begin(rank);
  if (find_blocker(rank)) return false;
  const RankPlan& plan = set_of(self).plans[static_cast<std::size_t>(rank)];
  if (self.step == plan.steps.size()) {
    end(rank);
    return true;
  }
  step_ = static_cast<int>(self.step);
  self.clock.tick(rank);
  perform(rank, plan, plan.steps[self.step]);
  ++self.step;
  ++verdict_.proof.steps;
  return true;
}

void SequenceRun::begin(int rank) {
  Rank& self = state(rank);
  self.begun = true;
  self.step = 0;
  self.told.assign(ranks_.size(), false);
  self.phases.emplace_back();
  write_as_caller(rank, kCallerBefore);
  // Nothing stays in private memory.
  const RankPlan& plan = set_of(self).plans[static_cast<std::size_t>(rank)];
  write(rank, {Buffer::kPrivate, rank, 0}, {{plan.private_count, {}}});
}

void SequenceRun::end(int rank) {
  Rank& self = state(rank);
  step_ = kCallerAfter;
  self.clock.tick(rank);
  drain(rank);
  const Request& request = set_of(self).request;
  const Place output{Buffer::kOutput, rank, 0};
  const std::size_t count = output_count(request, rank);
  // The caller reads its output; what it holds is judged here, so that nothing is a mistake too.
  Contents contents;
  const Place place = resolve(rank, output);
  const auto conflict =
      memory_.read({access_of(rank, kCallerAfter), self.clock}, place, count, contents);
  if (conflict) reject_conflict(rank, output, *conflict);
  auto& check = outputs_[static_cast<std::size_t>(self.operation)];
  const auto mistake = check.check(expressions_, rank, contents);
  if (mistake) reject(rank, mistake->code, mistake->what);
  self.ends.push_back(self.clock);
  // What the caller does from now on is not part of what the peers know.
  write_as_caller(rank, kCallerAfter);
  ++self.operation;
  self.begun = false;
}

void SequenceRun::perform(int rank, const RankPlan& plan, const Step& step) {
  Rank& self = state(rank);
  switch (step.kind) {
    case StepKind::kCopy: {
      const Contents contents = read(rank, plan.sources(step)[0], step.count);
      for (const Place& target : plan.targets(step)) write(rank, target, contents);
      break;
    }
    case StepKind::kReduce:
      fold_sources(rank, plan, step);
      break;
    case StepKind::kSignal:
      self.phases.back().push_back(self.clock);
      break;
    case StepKind::kWait:
    case StepKind::kReclaim:
      join_peers(rank, step);
      break;
    case StepKind::kSend: {
      const Place& source = plan.sources(step)[0];
      messages_[{rank, step.peer}].push_back({read(rank, source, step.count, true), self.clock});
      self.sends.push_back({resolve(rank, source), step.count});
      ++self.unreceived;
      ++verdict_.proof.messages;
      break;
    }
    case StepKind::kRecv: {
      auto& queue = messages_[{step.peer, rank}];
      const Message message = std::move(queue.front());
      queue.pop_front();
      --state(step.peer).unreceived;
      self.clock.join(message.clock);
      write(rank, plan.targets(step)[0], message.contents);
      break;
    }
    case StepKind::kDrain:
      drain(rank);
      break;
  }
}

void SequenceRun::join_peers(int rank, const Step& step) {
  Rank& self = state(rank);
  const int first = step.peer == kEveryone ? 0 : step.peer;
  const int last = step.peer == kEveryone ? size() - 1 : step.peer;
  for (int peer = first; peer <= last; ++peer) {
    if (peer == rank) continue;
    const Rank& other = state(peer);
    if (step.kind == StepKind::kReclaim) {
      if (self.operation >= 2) {
        self.clock.join(other.ends[static_cast<std::size_t>(self.operation - 2)]);
      }
      continue;
    }
    const auto& phases = other.phases[static_cast<std::size_t>(self.operation)];
    if (phases.size() >= step.phase) {
      self.clock.join(phases[step.phase - 1]);
      self.told[static_cast<std::size_t>(peer)] = true;
    } else {  // It never reaches this phase, and has ended.
      self.clock.join(other.ends[static_cast<std::size_t>(self.operation)]);
    }
  }
}

void SequenceRun::fold_sources(int rank, const RankPlan& plan, const Step& step) {
  std::vector<Contents> sources;
  std::vector<std::size_t> borders{0, step.count};
  for (const Place& source : plan.sources(step)) {
    sources.push_back(read(rank, source, step.count));
    std::size_t border = 0;
    for (const Stretch& stretch : sources.back()) borders.push_back(border += stretch.count);
  }
  std::ranges::sort(borders);
  borders.erase(std::ranges::unique(borders).begin(), borders.end());
  std::vector<std::size_t> stretch(sources.size(), 0);
  std::vector<std::size_t> start(sources.size(), 0);  // of that stretch
  Contents result;
  std::vector<Value> values(sources.size());
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    for (std::size_t j = 0; j < sources.size(); ++j) {
      while (start[j] + sources[j][stretch[j]].count <= borders[i]) {
        start[j] += sources[j][stretch[j]++].count;
      }
      values[j] = sources[j][stretch[j]].value;
      values[j].at += static_cast<std::int64_t>(borders[i] - start[j]);
    }
    result.push_back({borders[i + 1] - borders[i], expressions_.fold(values)});
  }
  for (const Place& target : plan.targets(step)) write(rank, target, result);
}

void SequenceRun::drain(int rank) {
  Rank& self = state(rank);
  for (const SentPart& send : self.sends) {
    memory_.land({access_of(rank, step_), self.clock}, send.place, send.count);
  }
  self.sends.clear();
}

std::optional<SequenceRun::Blocker> SequenceRun::find_blocker(int rank) {
  const Rank& self = state(rank);
  const RankPlan& plan = set_of(self).plans[static_cast<std::size_t>(rank)];
  const bool at_end = self.step == plan.steps.size();
  const StepKind kind = at_end ? StepKind::kDrain : plan.steps[self.step].kind;
  switch (kind) {
    case StepKind::kWait:
    case StepKind::kReclaim:
      return find_flag_blocker(rank, plan.steps[self.step]);
    case StepKind::kRecv: {
      const int peer = plan.steps[self.step].peer;
      const auto queue = messages_.find({peer, rank});
      if (queue != messages_.end() && !queue->second.empty()) return std::nullopt;
      return Blocker{peer, fmt::format("a message from rank {}", peer)};
    }
    case StepKind::kDrain:
      if (self.unreceived == 0) return std::nullopt;
      for (const auto& [pair, queue] : messages_) {
        if (pair.first != rank || queue.empty()) continue;
        return Blocker{pair.second, fmt::format("rank {} to receive a message", pair.second)};
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<SequenceRun::Blocker> SequenceRun::find_flag_blocker(int rank, const Step& step) {
  const int operation = state(rank).operation;
  const int first = step.peer == kEveryone ? 0 : step.peer;
  const int last = step.peer == kEveryone ? size() - 1 : step.peer;
  for (int peer = first; peer <= last; ++peer) {
    if (peer == rank) continue;
    if (step.kind == StepKind::kReclaim) {
      if (operation < 2 || has_ended(peer, operation - 2)) continue;
      return Blocker{peer, fmt::format("rank {} to end operation {}", peer, operation - 2)};
    }
    const auto& phases = state(peer).phases;
    const auto index = static_cast<std::size_t>(operation);
    const bool reached = index < phases.size() && phases[index].size() >= step.phase;
    if (reached || has_ended(peer, operation)) continue;
    return Blocker{peer, fmt::format("phase {} of rank {}", step.phase, peer)};
  }
  return std::nullopt;
}

}  // namespace commrig::coll
