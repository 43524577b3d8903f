// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/interpreter_for_test.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

// Where part `index` of something with these counts begins.
std::size_t offset_of(const std::vector<std::size_t>& counts, int index) {
  return std::accumulate(counts.begin(), counts.begin() + index, std::size_t{0});
}

std::vector<std::size_t> counts_of(const Request& request) {
  if (!request.counts.empty()) return request.counts;
  return std::vector<std::size_t>(static_cast<std::size_t>(request.ranks), request.count);
}

}  // namespace

Element fold(FoldKind kind, std::span<const Element> values) {
  if (values.size() == 1) return values[0];
  Element result = kind == FoldKind::kSum ? 0 : 0x9e3779b97f4a7c15;
  for (const Element value : values) {
    result = kind == FoldKind::kSum ? result + value : (result ^ value) * 0xd1342543de82ef95 + 1;
  }
  return result;
}

Interpreter::Interpreter(std::span<const PlanSet* const> sequence, FoldKind kind,
                         std::uint64_t seed)
    : sequence_(sequence),
      kind_(kind),
      rng_(seed),
      ranks_(static_cast<std::size_t>(sequence.front()->request.ranks)) {
  std::size_t scratch = 0;
  for (const PlanSet* set : sequence) {
    for (const RankPlan& plan : set->plans) scratch = std::max(scratch, plan.scratch_count);
  }
  for (Rank& rank : ranks_) {
    for (auto& half : rank.scratch) half = random(scratch);
  }
  inputs_.assign(sequence.size(), std::vector<std::vector<Element>>(ranks_.size()));
  outputs_ = inputs_;
}

std::vector<Element> Interpreter::random(std::size_t count) {
  std::vector<Element> values(count);
  for (Element& value : values) value = rng_.next();
  return values;
}

bool Interpreter::run() {
  std::vector<int> able;
  do {
    able.clear();
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      if (can_step(rank)) able.push_back(rank);
    }
    if (able.empty() || broken_) break;
    // A few steps of one, so that ranks get ahead of each other.
    const int rank = able[rng_.below(able.size())];
    for (auto left = 1 + rng_.below(8); left > 0 && !broken_ && can_step(rank); --left) {
      Rank& self = state(rank);
      if (!self.begun) {
        begin(rank);
        continue;
      }
      const RankPlan& plan = sequence_[self.operation]->plans[static_cast<std::size_t>(rank)];
      if (self.step == plan.steps.size()) {
        end(rank);
      } else {
        perform(rank, plan, plan.steps[self.step++]);
      }
    }
  } while (true);
  return !broken_ && std::ranges::all_of(ranks_, [&](const Rank& rank) {
    return rank.operation == sequence_.size();
  });
}

bool Interpreter::can_step(int rank) {
  Rank& self = state(rank);
  if (self.operation == sequence_.size()) return false;
  if (!self.begun) return true;
  const RankPlan& plan = sequence_[self.operation]->plans[static_cast<std::size_t>(rank)];
  if (self.step == plan.steps.size()) return self.unreceived == 0;
  const Step& step = plan.steps[self.step];
  if (step.kind == StepKind::kDrain) return self.unreceived == 0;
  if (step.kind == StepKind::kRecv) return !messages_[{step.peer, rank}].empty();
  if (step.kind != StepKind::kWait && step.kind != StepKind::kReclaim) return true;
  if (step.peer != kEveryone) return flag_reached(rank, step.peer, step);
  for (int peer = 0; peer < static_cast<int>(ranks_.size()); ++peer) {
    if (peer != rank && !flag_reached(rank, peer, step)) return false;
  }
  return true;
}

bool Interpreter::flag_reached(int rank, int peer, const Step& step) {
  const std::size_t operation = state(rank).operation;
  const Rank& other = state(peer);
  if (step.kind == StepKind::kReclaim) return other.operation + 2 > operation;
  return other.operation > operation ||
         (other.phases.size() > operation && other.phases[operation] >= step.phase);
}

void Interpreter::begin(int rank) {
  Rank& self = state(rank);
  const PlanSet& set = *sequence_[self.operation];
  const Request& request = set.request;
  self.begun = true;
  self.step = 0;
  self.phases.push_back(0);
  self.hidden = random(set.plans[static_cast<std::size_t>(rank)].private_count);
  self.input = random(input_count(request, rank));
  self.output = random(output_count(request, rank));
  inputs_[self.operation][static_cast<std::size_t>(rank)] = self.input;
  const Overlay both = overlay(request, rank);
  if (both.exists) {
    auto& outer = both.outer == Buffer::kOutput ? self.output : self.input;
    outer.resize(std::max(
        outer.size(),
        both.offset + (both.outer == Buffer::kOutput ? self.input.size() : self.output.size())));
    if (both.outer == Buffer::kOutput) {
      std::ranges::copy(self.input, outer.begin() + static_cast<std::ptrdiff_t>(both.offset));
    }
  }
}

void Interpreter::end(int rank) {
  Rank& self = state(rank);
  auto& output = outputs_[self.operation][static_cast<std::size_t>(rank)];
  const std::size_t count = output_count(sequence_[self.operation]->request, rank);
  for (std::size_t i = 0; i < count; ++i) {
    output.push_back(load(self.operation, {Buffer::kOutput, rank, 0}, i));
  }
  self.input = random(self.input.size());
  self.output = random(self.output.size());
  ++self.operation;
  self.begun = false;
}

Element* Interpreter::at(std::size_t operation, const Place& place, std::size_t index) {
  Rank& owner = state(place.rank);
  const Place real = overlay(sequence_[operation]->request, place.rank).resolve(place);
  std::vector<Element>* buffer = &owner.hidden;
  if (real.buffer == Buffer::kInput) buffer = &owner.input;
  if (real.buffer == Buffer::kOutput) buffer = &owner.output;
  if (real.buffer == Buffer::kScratch) buffer = &owner.scratch[operation % 2];
  return real.offset + index < buffer->size() ? &(*buffer)[real.offset + index] : nullptr;
}

Element Interpreter::load(std::size_t operation, const Place& place, std::size_t index) {
  const Element* const element = at(operation, place, index);
  return element != nullptr ? *element : rng_.next();
}

void Interpreter::store(std::size_t operation, const Place& place, std::size_t index,
                        Element value) {
  Element* const element = at(operation, place, index);
  if (element != nullptr) *element = value;
}

void Interpreter::perform(int rank, const RankPlan& plan, const Step& step) {
  Rank& self = state(rank);
  if (step.kind == StepKind::kCopy || step.kind == StepKind::kReduce) {
    std::vector<std::vector<Element>> results(step.count);
    for (std::size_t i = 0; i < step.count; ++i) {
      for (const Place& source : plan.sources(step)) {
        results[i].push_back(load(self.operation, source, i));
      }
    }
    for (const Place& target : plan.targets(step)) {
      for (std::size_t i = 0; i < step.count; ++i) {
        store(self.operation, target, i, fold(kind_, results[i]));
      }
    }
  } else if (step.kind == StepKind::kSignal) {
    self.phases.back() = step.phase;
  } else if (step.kind == StepKind::kSend) {
    messages_[{rank, step.peer}].push_back({plan.sources(step)[0], self.operation, step.count});
    ++self.unreceived;
  } else if (step.kind == StepKind::kRecv) {
    auto& queue = messages_[{step.peer, rank}];
    const Message message = queue.front();
    queue.pop_front();
    --state(step.peer).unreceived;
    broken_ = broken_ || message.count != step.count || message.operation != self.operation;
    for (std::size_t i = 0; i < step.count; ++i) {
      store(self.operation, plan.targets(step)[0], i, load(message.operation, message.source, i));
    }
  }
}

std::vector<Element> reference_output(const Request& request, int rank, FoldKind kind,
                                      const std::vector<std::vector<Element>>& inputs) {
  std::vector<Element> folded;
  if (has_arithmetic(request.collective)) {
    for (std::size_t i = 0; i < inputs[0].size(); ++i) {
      std::vector<Element> values;
      for (const auto& input : inputs) values.push_back(input[i]);
      folded.push_back(fold(kind, values));
    }
  }
  const auto part = [](const std::vector<Element>& all, std::size_t offset, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset);
    return std::vector<Element>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const auto root = static_cast<std::size_t>(request.root);
  const auto me = static_cast<std::size_t>(rank);
  const bool is_root = rank == request.root;
  const std::vector<std::size_t> counts = counts_of(request);
  switch (base_form(request.collective)) {
    case Collective::kAllReduce:
      return folded;
    case Collective::kReduce:
      return is_root ? folded : std::vector<Element>();
    case Collective::kBroadcast:
      return inputs[root];
    case Collective::kReduceScatter:
      return part(folded, offset_of(counts, rank), counts[me]);
    case Collective::kScatter:
      return part(inputs[root], offset_of(counts, rank), counts[me]);
    case Collective::kAllGather:
    case Collective::kGather: {
      std::vector<Element> all;
      for (const auto& input : inputs) all.insert(all.end(), input.begin(), input.end());
      const bool gets = is_root || !has_root(request.collective);
      return gets ? all : std::vector<Element>();
    }
    default: {
      std::vector<Element> all;
      const auto n = static_cast<std::size_t>(request.ranks);
      for (std::size_t from = 0; from < n; ++from) {
        std::vector<std::size_t> row(n, request.count);
        if (!request.counts.empty()) {
          row.assign(counts.begin() + static_cast<std::ptrdiff_t>(from * n),
                     counts.begin() + static_cast<std::ptrdiff_t>((from + 1) * n));
        }
        const auto block = part(inputs[from], offset_of(row, rank), row[me]);
        all.insert(all.end(), block.begin(), block.end());
      }
      return all;
    }
  }
}

std::string run_and_compare(std::span<const PlanSet* const> sequence, FoldKind kind,
                            std::uint64_t seed) {
  Interpreter interpreter(sequence, kind, seed);
  if (!interpreter.run()) return "it doesn't end, or messages differ in length";
  for (std::size_t operation = 0; operation < sequence.size(); ++operation) {
    const Request& request = sequence[operation]->request;
    std::vector<std::vector<Element>> inputs;
    for (int rank = 0; rank < request.ranks; ++rank) {
      inputs.push_back(interpreter.input(operation, rank));
    }
    // Where sums are passed on only the sum is promised, but to all ranks in the same order.
    const bool once = sequence[operation]->rounding != Rounding::kPerHop;
    const bool same = request.collective == Collective::kAllReduce;
    for (int rank = 0; rank < request.ranks; ++rank) {
      const auto& found = interpreter.output(operation, rank);
      const bool comparable = kind == FoldKind::kSum || once;
      if (comparable && found != reference_output(request, rank, kind, inputs)) {
        return fmt::format("operation {}: the output of rank {} is wrong", operation, rank);
      }
      if (same && found != interpreter.output(operation, 0)) {
        return fmt::format("operation {}: ranks 0 and {} differ", operation, rank);
      }
    }
  }
  return "";
}

}  // namespace commrig::coll
