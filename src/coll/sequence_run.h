// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coll/memory.h"
#include "coll/output_check.h"
#include "coll/verifier.h"

namespace commrig::coll {

// One run of a sequence of plan sets: see verify_sequence().
class SequenceRun {
 public:
  explicit SequenceRun(std::span<const PlanSet* const> sequence);

  Verdict run();

 private:
  struct SentPart {
    Place place;
    std::size_t count;
  };
  struct Rank {
    int operation = 0;
    std::size_t step = 0;
    bool begun = false;
    VectorClock clock;
    std::vector<bool> told{};       // which peers' input and output have a known address
    std::vector<SentPart> sends{};  // since the last drain
    std::size_t unreceived = 0;     // messages of this rank that no peer has received yet
    // What it knew at each phase of each operation, and at the end of each.
    std::vector<std::vector<VectorClock>> phases{};
    std::vector<VectorClock> ends{};
  };
  struct Message {
    Contents contents;
    VectorClock clock;
  };
  // What a rank can't go on without.
  struct Blocker {
    int peer;
    std::string what;
  };

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const PlanSet& set_of(const Rank& rank) const {
    return *sequence_[static_cast<std::size_t>(rank.operation)];
  }
  int size() const { return static_cast<int>(ranks_.size()); }
  bool has_ended(int rank, int operation) {
    return state(rank).ends.size() > static_cast<std::size_t>(operation);
  }

  // Whether the rank did anything.
  bool advance(int rank);
  void begin(int rank);
  void end(int rank);
  void perform(int rank, const RankPlan& plan, const Step& step);
  void join_peers(int rank, const Step& step);
  void fold_sources(int rank, const RankPlan& plan, const Step& step);
  void drain(int rank);

  // The first peer that the step, or at the end of the plan the rank, still waits for.
  std::optional<Blocker> find_blocker(int rank);
  std::optional<Blocker> find_flag_blocker(int rank, const Step& step);

  // By a step of a rank, or by its caller.
  Access access_of(int rank, int step);
  Place resolve(int rank, const Place& place);
  Contents read(int rank, const Place& place, std::size_t count, bool in_flight = false);
  void write(int rank, const Place& place, const Contents& contents);
  void write_as_caller(int rank, int when);

  void reject(int rank, Code code, std::string what, const Access& other = {});
  void reject_conflict(int rank, const Place& place, const Access& earlier);
  void reject_stuck();
  std::string step_text(int rank, int operation, int step) const;

  std::span<const PlanSet* const> sequence_;
  std::vector<std::vector<Overlay>> overlays_;  // of each set of the sequence, of each rank
  Memory memory_;
  Expressions expressions_{};
  std::vector<Rank> ranks_{};
  std::vector<OutputCheck> outputs_{};
  std::map<std::pair<int, int>, std::deque<Message>> messages_{};
  int step_ = 0;  // that is being done, or kCallerBefore, kCallerAfter
  Verdict verdict_{};
};

}  // namespace commrig::coll
