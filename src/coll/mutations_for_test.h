// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "coll/verifier.h"

namespace commrig::coll {

// Ways to spoil one step of one rank's plan.
enum class MutationKind : std::uint8_t {
  kDropStep,      // a wait, reclaim, drain, copy, reduce, message, or the last signal
  kForgetPeer,    // wait for, or reclaim from, all but one
  kLowerPhase,    // wait for the phase before
  kOtherPeer,     // wait for, send to or receive from the next rank instead
  kSwapSteps,     // with the next step
  kSwapBlocks,    // the sources of this step and of a later one of the same length
  kShiftSource,   // by one element
  kShiftTarget,   // by one element
  kOtherSource,   // the same place of the next rank
  kOtherTarget,   // the same place of the next rank
  kShorten,       // a copy or reduce by one element
  kShortMessage,  // a message by one element, on both sides
  kSwapSources,   // the order of two in a reduce
  kDropSource,    // of a reduce
  kRepeatSource,  // of a reduce, instead of the next one
};
inline constexpr std::size_t kMutationKinds = 15;
std::string_view name(MutationKind kind);

struct Mutation {
  MutationKind kind;
  std::size_t rank;
  std::size_t step;
  std::size_t argument;  // which peer, place or step
};

// Every mutation that changes some step; what it does to behaviour is another matter.
std::vector<Mutation> list_mutations(const PlanSet& set);

PlanSet mutate(const PlanSet& set, const Mutation& mutation);

}  // namespace commrig::coll
