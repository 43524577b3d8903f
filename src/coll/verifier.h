// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codes.h"
#include "coll/algorithms.h"

namespace commrig::coll {

// The plans of all ranks for one operation, and what is claimed of them.
struct PlanSet {
  Request request;
  std::vector<RankPlan> plans{};  // one a rank
  Rounding rounding = Rounding::kNever;
  bool shared_memory = true;
  std::string algorithm{};  // for messages
};

Result<PlanSet> make_plan_set(const Algorithm& algorithm, const Request& request,
                              const Tuning& tuning = {});

// In place of a step: the caller's own use of its buffers, before and after the operation.
inline constexpr int kCallerBefore = -1;
inline constexpr int kCallerAfter = -2;

// Why a set of plans is rejected.
struct Defect {
  Code code = Code::kPlanStep;
  int operation = 0;  // of the sequence, counted from 0
  int rank = 0;
  int step = 0;  // in the rank's plan, or kCallerBefore, kCallerAfter
  std::string what{};
  // The other side, where there is one; -1 if not.
  int peer = -1;
  int peer_operation = -1;
  int peer_step = -1;
};

// "CR-COL15: operation 2, rank 0, step 1 (copy ...): ..."
std::string to_string(const Defect& defect);

// What was looked at.
struct Proof {
  std::size_t operations = 0;
  std::size_t steps = 0;
  std::size_t messages = 0;
  std::size_t accesses = 0;  // reads and writes of a buffer, each compared with those before
  std::size_t results = 0;   // stretches of outputs compared with what the collective promises
};

struct Verdict {
  std::optional<Defect> defect{};
  Proof proof{};
};

// Runs the sets one after the other on one communicator, each rank as far ahead as it can get, and
// follows every element as an expression of the inputs. Callers overwrite their buffers right
// before an operation and right after it.
//
// One run stands for all: signals, waits and messages give every step the same predecessors in any
// run (a flag only grows, the messages of two ranks keep their order), and a step that can be done
// stays possible until it is done. So if no two accesses conflict in this run, none do in any, and
// every run computes the same; and if this run ends, so does each.
Verdict verify_sequence(std::span<const PlanSet* const> sequence);

// The same set several times in a row; with more than 4, both halves of the scratch are used again.
Verdict verify(const PlanSet& set, int operations = 5);

}  // namespace commrig::coll
