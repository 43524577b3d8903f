// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/awaited.h"
#include "comm/staging.h"
#include "comm/team.h"

namespace commrig::comm {

// One rank's part of a team: what its operations use one after the other. Touched by the thread
// that advances the operation whose turn it is.
class Endpoint {
 public:
  Endpoint(std::shared_ptr<Team> team, int rank)
      : team_(std::move(team)),
        rank_(rank),
        known_(static_cast<std::size_t>(team_->ranks()), 0),
        staging_area_(team_->machine()) {}

  Team& team() { return *team_; }
  int rank() const { return rank_; }
  int ranks() const { return team_->ranks(); }
  Board& board() { return team_->board(rank_); }

  // Operations are done in the order in which they were called, whatever their streams are.
  // `issue` numbers all of them from 1.
  std::uint64_t next_issue() { return ++issued_; }
  bool has_turn(std::uint64_t issue) const {
    return ended_.load(std::memory_order_acquire) + 1 >= issue;
  }
  void end_turn() { ended_.fetch_add(1, std::memory_order_acq_rel); }
  bool idle() const { return ended_.load(std::memory_order_acquire) == issued_; }

  // Collectives alone, which all ranks call in the same order, so that numbers agree.
  std::uint64_t next_number() { return ++number_; }

  std::uint64_t next_split() { return ++splits_; }

  // Says what the operation whose turn it is waits for; true when that is something new. Then, or
  // when it has come further, a circle may have been closed.
  bool await(const Awaited& awaited);

  // The last collective that the peer is known to have ended.
  std::uint64_t known_ended(int peer) const { return known_[static_cast<std::size_t>(peer)]; }
  void learn_ended(int peer, std::uint64_t number) {
    std::uint64_t& known = known_[static_cast<std::size_t>(peer)];
    if (known < number) known = number;
  }

  // Of the step that is being done: kept here so that a step allocates nothing.
  struct Places {
    std::vector<const void*> sources;
    std::vector<std::byte*> targets;
  };
  Places& places() { return places_; }

  StagingArea& staging_area() { return staging_area_; }

  // Memory of this rank alone, of at least so many bytes; contents are undefined. The one for what
  // stays during a plan, the other during a step.
  std::byte* private_memory(std::size_t bytes) { return at_least(private_, bytes); }
  std::byte* piece_memory(std::size_t bytes) { return at_least(piece_, bytes); }

 private:
  static std::byte* at_least(std::vector<std::byte>& memory, std::size_t bytes);

  std::shared_ptr<Team> team_;  // shared by the ranks of this process, see Team
  int rank_;
  std::uint64_t issued_ = 0;  // by the rank's calling thread
  std::atomic<std::uint64_t> ended_{0};
  std::uint64_t number_ = 0;
  std::uint64_t splits_ = 0;
  std::vector<std::uint64_t> known_;
  Awaited awaited_;
  std::uint16_t version_ = 0;
  std::vector<std::byte> private_;
  std::vector<std::byte> piece_;
  Places places_;
  StagingArea staging_area_;
};

inline bool Endpoint::await(const Awaited& awaited) {
  if (awaited == awaited_) return false;
  awaited_ = awaited;
  board().state.awaited.store(awaited.word(++version_), std::memory_order_seq_cst);
  return true;
}

// From the begin of a line.
inline std::byte* Endpoint::at_least(std::vector<std::byte>& memory, std::size_t bytes) {
  if (memory.size() < bytes + kLine) memory.resize(bytes + kLine);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (kLine - address % kLine) % kLine;
}

}  // namespace commrig::comm
