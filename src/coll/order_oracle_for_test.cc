// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/order_oracle_for_test.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

using Node = std::size_t;

// A use of one element from `first` to `last`; a message is read from its send to its drain.
struct Use {
  Node first;
  Node last;
  bool writes;
};

class Graph {
 public:
  explicit Graph(std::span<const PlanSet* const> sequence)
      : sequence_(sequence), ranks_(sequence.front()->request.ranks) {
    Node next = 0;
    for (const PlanSet* const set : sequence) {
      starts_.emplace_back();
      for (const RankPlan& plan : set->plans) {
        starts_.back().push_back(next);
        next += plan.steps.size() + 3;  // the caller before, the steps, the end, the caller after
      }
    }
    befores_.resize(next);
    states_.assign(next, State::kNew);
    reached_.assign(next, std::vector<bool>());
    add_edges();
  }

  Node before(std::size_t operation, int rank) const {
    return starts_[operation][static_cast<std::size_t>(rank)];
  }
  Node step(std::size_t operation, int rank, std::size_t step) const {
    return before(operation, rank) + 1 + step;
  }
  Node end(std::size_t operation, int rank) const {
    return step(operation, rank, plan(operation, rank).steps.size());
  }
  Node after(std::size_t operation, int rank) const { return end(operation, rank) + 1; }
  const RankPlan& plan(std::size_t operation, int rank) const {
    return sequence_[operation]->plans[static_cast<std::size_t>(rank)];
  }

  // Whether a path leads from `a` to `b`.
  bool ordered(Node a, Node b) {
    visit(b);
    return a == b || reached_[b][a];
  }
  bool has_circle() {
    for (Node node = 0; node < befores_.size(); ++node) visit(node);
    return circle_;
  }
  // The step at which a rank reaches a phase, or null.
  const Node* phase(std::size_t operation, int rank, std::uint32_t phase) const {
    const auto found = phases_.find({operation, rank, phase});
    return found == phases_.end() ? nullptr : &found->second;
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void add_edges() {
    for (std::size_t operation = 0; operation < sequence_.size(); ++operation) {
      for (int rank = 0; rank < ranks_; ++rank) note_signals(operation, rank);
    }
    for (std::size_t operation = 0; operation < sequence_.size(); ++operation) {
      for (int rank = 0; rank < ranks_; ++rank) add_edges_of(operation, rank);
    }
    for (auto& [pair, receipts] : receipts_) {
      const auto& sends = sends_[pair];
      for (std::size_t i = 0; i < std::min(sends.size(), receipts.size()); ++i) {
        befores_[receipts[i]].push_back(sends[i]);
      }
    }
  }

  void note_signals(std::size_t operation, int rank) {
    const auto& steps = plan(operation, rank).steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind == StepKind::kSignal) {
        phases_.emplace(std::tuple(operation, rank, steps[i].phase), step(operation, rank, i));
      }
    }
  }

  void add_edges_of(std::size_t operation, int rank) {
    if (operation > 0) befores_[before(operation, rank)].push_back(after(operation - 1, rank));
    for (Node node = before(operation, rank) + 1; node <= after(operation, rank); ++node) {
      befores_[node].push_back(node - 1);
    }
    const auto& steps = plan(operation, rank).steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Node node = step(operation, rank, i);
      if (steps[i].kind == StepKind::kSend) sends_[{rank, steps[i].peer}].push_back(node);
      if (steps[i].kind == StepKind::kRecv) receipts_[{steps[i].peer, rank}].push_back(node);
      if (steps[i].kind != StepKind::kWait && steps[i].kind != StepKind::kReclaim) continue;
      for (int peer = 0; peer < ranks_; ++peer) {
        if (peer == rank || (steps[i].peer != kEveryone && steps[i].peer != peer)) continue;
        if (steps[i].kind == StepKind::kReclaim) {
          if (operation >= 2) befores_[node].push_back(end(operation - 2, peer));
        } else {
          const Node* const signal = phase(operation, peer, steps[i].phase);
          befores_[node].push_back(signal != nullptr ? *signal : end(operation, peer));
        }
      }
    }
  }

  void visit(Node node) {
    if (states_[node] == State::kOpen) circle_ = true;
    if (states_[node] != State::kNew) return;
    states_[node] = State::kOpen;
    std::vector<bool> reached(befores_.size(), false);
    for (const Node previous : befores_[node]) {
      visit(previous);
      reached[previous] = true;
      if (reached_[previous].empty()) continue;  // a circle
      for (Node i = 0; i < reached.size(); ++i) reached[i] = reached[i] || reached_[previous][i];
    }
    reached_[node] = std::move(reached);
    states_[node] = State::kDone;
  }

  std::span<const PlanSet* const> sequence_;
  int ranks_;
  std::vector<std::vector<Node>> starts_{};
  std::vector<std::vector<Node>> befores_{};
  std::vector<std::vector<bool>> reached_{};
  std::vector<State> states_{};
  std::map<std::tuple<std::size_t, int, std::uint32_t>, Node> phases_{};
  std::map<std::pair<int, int>, std::vector<Node>> sends_{};
  std::map<std::pair<int, int>, std::vector<Node>> receipts_{};
  bool circle_ = false;
};

class Oracle {
 public:
  explicit Oracle(std::span<const PlanSet* const> sequence)
      : sequence_(sequence), graph_(sequence) {}

  std::string find() {
    if (graph_.has_circle()) return "a circle of waits";
    const int ranks = sequence_.front()->request.ranks;
    for (std::size_t operation = 0; operation < sequence_.size(); ++operation) {
      for (int rank = 0; rank < ranks; ++rank) collect(operation, rank);
    }
    for (const auto& [element, uses] : uses_) {
      for (std::size_t i = 0; i < uses.size() && wrong_.empty(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (!uses[i].writes && !uses[j].writes) continue;
          if (uses[i].first == uses[j].first) continue;
          if (graph_.ordered(uses[i].last, uses[j].first)) continue;
          if (graph_.ordered(uses[j].last, uses[i].first)) continue;
          const auto& [rank, buffer, index] = element;
          wrong_ = fmt::format("two uses of element {} in buffer {} of rank {} have no order",
                               index, buffer, rank);
        }
      }
    }
    return wrong_;
  }

 private:
  void collect(std::size_t operation, int rank) {
    const Request& request = sequence_[operation]->request;
    const std::size_t inputs = input_count(request, rank);
    const std::size_t outputs = output_count(request, rank);
    for (const Node node : {graph_.before(operation, rank), graph_.after(operation, rank)}) {
      use(operation, {Buffer::kInput, rank, 0}, inputs, {node, node, true});
      use(operation, {Buffer::kOutput, rank, 0}, outputs, {node, node, true});
    }
    const Node end = graph_.end(operation, rank);
    use(operation, {Buffer::kOutput, rank, 0}, outputs, {end, end, false});
    const RankPlan& plan = graph_.plan(operation, rank);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      const Node node = graph_.step(operation, rank, i);
      Node last = node;
      if (step.kind == StepKind::kSend) last = drain_after(operation, rank, i);
      for (const Place& place : plan.sources(step)) {
        check_place(operation, rank, i, place, step.count);
        use(operation, place, step.count, {node, last, false});
      }
      for (const Place& place : plan.targets(step)) {
        check_place(operation, rank, i, place, step.count);
        use(operation, place, step.count, {node, node, true});
      }
    }
  }

  Node drain_after(std::size_t operation, int rank, std::size_t from) const {
    const auto& steps = graph_.plan(operation, rank).steps;
    for (std::size_t i = from; i < steps.size(); ++i) {
      if (steps[i].kind == StepKind::kDrain) return graph_.step(operation, rank, i);
    }
    return graph_.end(operation, rank);
  }

  void check_place(std::size_t operation, int rank, std::size_t step, const Place& place,
                   std::size_t count) {
    const PlanSet& set = *sequence_[operation];
    std::size_t size = set.plans[static_cast<std::size_t>(place.rank)].scratch_count;
    if (place.buffer == Buffer::kInput) size = input_count(set.request, place.rank);
    if (place.buffer == Buffer::kOutput) size = output_count(set.request, place.rank);
    if (place.buffer == Buffer::kPrivate) {
      size = set.plans[static_cast<std::size_t>(place.rank)].private_count;
    }
    if (place.offset + count > size) wrong_ = "a place outside its buffer";
    if (place.rank == rank || place.buffer == Buffer::kScratch) return;
    bool told = false;
    const auto& steps = graph_.plan(operation, rank).steps;
    for (std::size_t i = 0; i < step; ++i) {
      told = told || (steps[i].kind == StepKind::kWait &&
                      (steps[i].peer == place.rank || steps[i].peer == kEveryone) &&
                      graph_.phase(operation, place.rank, steps[i].phase) != nullptr);
    }
    if (!told) wrong_ = "a peer's buffer whose address isn't known";
  }

  void use(std::size_t operation, const Place& place, std::size_t count, Use use) {
    const Place real = overlay(sequence_[operation]->request, place.rank).resolve(place);
    int buffer = static_cast<int>(real.buffer);
    if (real.buffer == Buffer::kScratch) buffer += 10 * static_cast<int>(1 + operation % 2);
    for (std::size_t i = 0; i < count; ++i) {
      uses_[{real.rank, buffer, real.offset + i}].push_back(use);
    }
  }

  std::span<const PlanSet* const> sequence_;
  Graph graph_;
  std::map<std::tuple<int, int, std::size_t>, std::vector<Use>> uses_{};
  std::string wrong_{};
};

}  // namespace

std::string find_disorder(std::span<const PlanSet* const> sequence) {
  return Oracle(sequence).find();
}

}  // namespace commrig::coll
