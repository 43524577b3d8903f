// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/memory_exchange.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bootstrap/rank_list.h"

namespace commrig::bootstrap {

// The ranks of one id. Exchange number k uses buffer k modulo 2: who starts number k + 2 has
// finished k + 1, which all have joined after they had read the blocks of k.
class MemoryGroup {
 public:
  MemoryGroup(Executor& executor, UniqueId id, int ranks)
      : executor_(executor), id_(id), ranks_(ranks), came_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return ranks_; }
  Status join(int rank, int ranks, const MemoryOptions& options);
  // The exchange number `turn` of this rank.
  Status all_gather(int rank, std::uint64_t turn, std::span<std::byte> blocks,
                    std::size_t block_bytes, const MemoryOptions& options);
  void leave(int rank, std::uint64_t turns);
  // Ends all waits with the error, the first one given. Returns that one.
  Error fail(const Error& error);

 private:
  struct Turn {
    std::uint64_t number = UINT64_MAX;
    std::size_t block_bytes = 0;
    int first = -1;  // the rank that said so
    std::vector<std::byte> blocks;
  };
  struct State {
    int present = 0;
    std::array<Turn, 2> turns;
    std::optional<Error> failed;
  };
  Status begin(int rank, std::uint64_t number, std::span<const std::byte> blocks,
               std::size_t block_bytes, std::byte*& place);
  Status wait(const std::atomic<std::uint64_t>& word, std::uint64_t wanted, const char* what,
              const MemoryOptions& options, Nanos within);
  Error absent();

  Executor& executor_;
  UniqueId id_;
  int ranks_;
  std::vector<bool> came_;  // guarded by state_'s lock
  Guarded<State> state_;
  std::atomic<std::uint64_t> present_{0};
  std::atomic<std::uint64_t> arrivals_{0};             // in all exchanges together
  std::atomic<std::uint64_t> first_left_{UINT64_MAX};  // the first exchange that lacks a rank
  std::atomic<int> who_left_{-1};
  std::atomic<bool> failed_{false};
};

Error MemoryGroup::fail(const Error& error) {
  Error first = error;
  {
    const auto state = state_.lock();
    if (!state->failed) state->failed = error;
    first = *state->failed;
    failed_.store(true, std::memory_order_release);
  }
  executor_.wake(this);
  return first;
}

Status MemoryGroup::wait(const std::atomic<std::uint64_t>& word, std::uint64_t wanted,
                         const char* what, const MemoryOptions& options, Nanos within) {
  const Nanos now = executor_.now();
  const auto there = [&] { return word.load(std::memory_order_acquire) >= wanted; };
  COMMRIG_TRY(
      executor_.wait({.key = this,
                      .ready = [&] { return there() || failed_.load(std::memory_order_acquire); },
                      .what = what,
                      .abort = options.abort,
                      .deadline = within >= kForever - now ? kForever : now + within}));
  if (there()) return ok();
  return *state_.lock()->failed;
}

Error MemoryGroup::absent() {
  std::vector<int> missing;
  int present = 0;
  {
    const auto state = state_.lock();
    present = state->present;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (!came_[static_cast<std::size_t>(rank)]) missing.push_back(rank);
    }
  }
  return Error::make(Code::kRankAbsent, fmt::format("{} of {} ranks have come; missing: {}",
                                                    present, ranks_, rank_list(missing)));
}

Status MemoryGroup::join(int rank, int ranks, const MemoryOptions& options) {
  std::optional<Error> wrong;
  {
    const auto state = state_.lock();
    if (state->failed) return *state->failed;
    if (state->present == ranks_) {
      return Error::make(Code::kIdUsed,
                         fmt::format("unique id {} (hash {:#x}) belongs to a communicator of {} "
                                     "ranks of this process that is complete",
                                     id_.to_string(), id_.hash(), ranks_));
    }
    if (ranks != ranks_) {
      wrong = Error::make(Code::kSetupMismatch, fmt::format("rank {} counts {} ranks, those before "
                                                            "it count {}",
                                                            rank, ranks, ranks_));
    } else if (came_[static_cast<std::size_t>(rank)]) {
      wrong = Error::make(
          Code::kRankTwice,
          fmt::format("rank {} of {} has come twice, both times in this process", rank, ranks_));
    } else {
      came_[static_cast<std::size_t>(rank)] = true;
      ++state->present;
    }
  }
  if (wrong) return fail(*wrong);
  if (present_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint64_t>(ranks_)) {
    executor_.wake(this);
    return ok();
  }
  const Status status = wait(present_, static_cast<std::uint64_t>(ranks_),
                             "the other ranks of this process", options, options.join_within);
  if (status) return ok();
  return fail(status.error().code == Code::kDeadline ? absent() : status.error());
}

Status MemoryGroup::begin(int rank, std::uint64_t number, std::span<const std::byte> blocks,
                          std::size_t block_bytes, std::byte*& place) {
  const auto state = state_.lock();
  if (state->failed) return *state->failed;
  Turn& turn = state->turns[number % 2];
  if (turn.number != number) {
    turn.number = number;
    turn.block_bytes = block_bytes;
    turn.first = rank;
    turn.blocks.resize(blocks.size());
  }
  if (turn.block_bytes != block_bytes) {
    return Error::make(Code::kSetupMismatch,
                       fmt::format("exchange {}: rank {} has a block of {} bytes, rank {} one of "
                                   "{}",
                                   number, rank, block_bytes, turn.first, turn.block_bytes));
  }
  place = turn.blocks.data();
  return ok();
}

Status MemoryGroup::all_gather(int rank, std::uint64_t number, std::span<std::byte> blocks,
                               std::size_t block_bytes, const MemoryOptions& options) {
  std::byte* place = nullptr;
  if (const Status status = begin(rank, number, blocks, block_bytes, place); !status) {
    return fail(status.error());
  }
  const std::size_t own = static_cast<std::size_t>(rank) * block_bytes;
  if (block_bytes != 0) std::memcpy(place + own, blocks.data() + own, block_bytes);
  const std::uint64_t all = (number + 1) * static_cast<std::uint64_t>(ranks_);
  if (arrivals_.fetch_add(1) + 1 == all) {
    executor_.wake(this);
  } else {
    if (first_left_.load() <= number) {
      return fail(
          Error::make(Code::kRankLost, fmt::format("rank {} has left; rank {} is in exchange {}",
                                                   who_left_.load(), rank, number)));
    }
    const Status status =
        wait(arrivals_, all, "blocks of the other ranks", options, options.exchange_within);
    if (!status) return fail(status.error());
  }
  if (block_bytes != 0) std::memcpy(blocks.data(), place, blocks.size());
  return ok();
}

void MemoryGroup::leave(int rank, std::uint64_t turns) {
  {
    const auto state = state_.lock();
    if (turns < first_left_.load(std::memory_order_relaxed)) {
      who_left_.store(rank);
      first_left_.store(turns);
    }
  }
  // Whoever is in an exchange that this rank has not joined waits in vain. He counts himself before
  // he looks at first_left_, in sequentially consistent order: one of both sees the other.
  const std::uint64_t needed = turns * static_cast<std::uint64_t>(ranks_);
  if (arrivals_.load() > needed) {
    (void)fail(Error::make(Code::kRankLost, fmt::format("rank {} has left; others are in exchange "
                                                        "{}",
                                                        rank, turns)));
  }
}

namespace {

class MemoryExchange final : public Exchange {
 public:
  MemoryExchange(MemoryGroup& group, int rank, const MemoryOptions& options)
      : group_(group), rank_(rank), options_(options) {}
  ~MemoryExchange() override { group_.leave(rank_, turns_); }

  int rank() const override { return rank_; }
  int ranks() const override { return group_.ranks(); }
  Status all_gather(std::span<std::byte> blocks, std::size_t block_bytes) override {
    if (failed_) return *failed_;
    if (blocks.size() != static_cast<std::size_t>(ranks()) * block_bytes) {
      return Error::make(Code::kBadArgument,
                         fmt::format("all-gather of {} blocks of {} bytes in a buffer of {} bytes",
                                     ranks(), block_bytes, blocks.size()));
    }
    const Status status = group_.all_gather(rank_, turns_++, blocks, block_bytes, options_);
    if (!status) failed_ = status.error();
    return status;
  }
  Status barrier() override { return all_gather({}, 0); }
  void abort(const Error& error) override { (void)group_.fail(error); }

 private:
  MemoryGroup& group_;
  int rank_;
  MemoryOptions options_;
  std::uint64_t turns_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

MemoryRendezvous::MemoryRendezvous(Executor& executor) : executor_(executor) {}
MemoryRendezvous::~MemoryRendezvous() = default;

Result<std::unique_ptr<Exchange>> MemoryRendezvous::join(const UniqueId& id, int rank, int ranks,
                                                         const MemoryOptions& options) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return Error::make(Code::kBadArgument,
                       fmt::format("rank {} of {}; ranks count from 0", rank, ranks));
  }
  MemoryGroup* group = nullptr;
  {
    const auto groups = groups_.lock();
    std::unique_ptr<MemoryGroup>& entry = (*groups)[id.bytes()];
    if (!entry) entry = std::make_unique<MemoryGroup>(executor_, id, ranks);
    group = entry.get();
  }
  COMMRIG_TRY(group->join(rank, ranks, options));
  return std::unique_ptr<Exchange>(std::make_unique<MemoryExchange>(*group, rank, options));
}

}  // namespace commrig::bootstrap
