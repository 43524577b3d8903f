// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "coll/verifier.h"

namespace commrig::coll {

using Element = std::uint64_t;

// How the interpreter folds: a sum, or something in which order and nesting show.
enum class FoldKind : std::uint8_t { kSum, kOrdered };
Element fold(FoldKind kind, std::span<const Element> values);

// Executes plans on numbers, in one thread: one step of a random rank after the other. It knows
// nothing of expressions or clocks, and shares no code with the verifier. Memory that nobody has
// written holds random numbers. A message is read from its source only when it is received, the
// latest moment that a plan must allow.
class Interpreter {
 public:
  Interpreter(std::span<const PlanSet* const> sequence, FoldKind kind, std::uint64_t seed);

  // Runs to the end. False if no rank could go on, a step was out of bounds, or a message had
  // another length than its receiver expects.
  bool run();

  // Of an operation and a rank, when its caller got it.
  const std::vector<Element>& input(std::size_t operation, int rank) const {
    return inputs_[operation][static_cast<std::size_t>(rank)];
  }
  const std::vector<Element>& output(std::size_t operation, int rank) const {
    return outputs_[operation][static_cast<std::size_t>(rank)];
  }

 private:
  struct Rank {
    std::size_t operation = 0;
    std::size_t step = 0;
    bool begun = false;
    std::size_t unreceived = 0;
    std::vector<std::uint32_t> phases{};  // reached in each operation begun
    std::vector<Element> input{};
    std::vector<Element> output{};  // in place, the outer buffer lies in one of the two
    std::vector<Element> scratch[2];
    std::vector<Element> hidden{};
  };
  struct Message {
    Place source;
    std::size_t operation;
    std::size_t count;
  };

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  bool can_step(int rank);
  bool flag_reached(int rank, int peer, const Step& step);
  void begin(int rank);
  void end(int rank);
  void perform(int rank, const RankPlan& plan, const Step& step);
  Element* at(std::size_t operation, const Place& place, std::size_t index);
  Element load(std::size_t operation, const Place& place, std::size_t index);
  void store(std::size_t operation, const Place& place, std::size_t index, Element value);
  std::vector<Element> random(std::size_t count);

  std::span<const PlanSet* const> sequence_;
  FoldKind kind_;
  Rng rng_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, std::deque<Message>> messages_{};
  std::vector<std::vector<std::vector<Element>>> inputs_{};
  std::vector<std::vector<std::vector<Element>>> outputs_{};
  bool broken_ = false;
};

// The output that a collective promises to a rank, computed plainly.
std::vector<Element> reference_output(const Request& request, int rank, FoldKind kind,
                                      const std::vector<std::vector<Element>>& inputs);

// Runs the sequence once and compares every output; "" or what is wrong.
std::string run_and_compare(std::span<const PlanSet* const> sequence, FoldKind kind,
                            std::uint64_t seed);

}  // namespace commrig::coll
