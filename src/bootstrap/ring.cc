// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/ring.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bootstrap/channel.h"
#include "bootstrap/check_in.h"
#include "bootstrap/entrance.h"

namespace commrig::bootstrap {
namespace {

Nanos deadline_of(const Executor& executor, Nanos within) {
  const Nanos now = executor.now();
  return within >= kForever - now ? kForever : now + within;
}

class Ring final : public Exchange {
 public:
  Ring(Executor& executor, int rank, int ranks, const RingOptions& options)
      : executor_(executor),
        rank_(rank),
        ranks_(ranks),
        abort_(options.abort),
        exchange_within_(options.exchange_within) {}

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  Status all_gather(std::span<std::byte> blocks, std::size_t block_bytes) override;
  Status barrier() override;
  void abort(const Error& error) override { abort_.raise(error, executor_); }

  Status connect(const UniqueId& id, const RingOptions& options);

 private:
  Status accept_previous(Entrance& entrance, Socket root, const Waiting& waiting);
  Status gather(std::span<std::byte> blocks, std::size_t block_bytes);
  // Moves what was begun on both channels.
  Status finish_round(const Waiting& waiting);
  Status give_up(const Error& error);

  Executor& executor_;
  int rank_;
  int ranks_;
  AbortFlag abort_;
  Nanos exchange_within_;
  std::optional<Channel> next_;
  std::optional<Channel> previous_;
  std::optional<Error> failed_;
  std::uint32_t barriers_ = 0;
};

Status Ring::connect(const UniqueId& id, const RingOptions& options) {
  const Waiting waiting{executor_, &abort_, deadline_of(executor_, options.connect_within)};
  COMMRIG_ASSIGN(Listener listener, Listener::open(options.listen));
  const Address ring = listener.address();
  Entrance entrance(std::move(listener), id.magic(), std::nullopt);
  COMMRIG_ASSIGN(CheckedIn checked_in,
                 check_in({.id = id,
                           .rank = rank_,
                           .ranks = ranks_,
                           .listen = options.listen,
                           .ring = ring,
                           .root_by = deadline_of(executor_, options.root_within),
                           .refused = options.refused},
                          waiting));
  const int next_rank = (rank_ + 1) % ranks_;
  Result<Socket> socket = commrig::connect(checked_in.next, waiting);
  if (!socket) {
    if (socket.error().code != Code::kConnection) return socket.error();
    return Error::make(
        Code::kRankLost,
        fmt::format("rank {} at {} was lost before rank {} could connect: {}", next_rank,
                    checked_in.next.to_string(), rank_, socket.error().message));
  }
  COMMRIG_TRY(socket->write_all(make_handshake(id.magic()), "a handshake", waiting));
  next_.emplace(*std::move(socket), next_rank);
  const Status accepted = accept_previous(entrance, std::move(checked_in.root), waiting);
  if (!accepted) next_->say(accepted.error());
  return accepted;
}

Status Ring::accept_previous(Entrance& entrance, Socket root, const Waiting& waiting) {
  const int previous_rank = (rank_ + ranks_ - 1) % ranks_;
  std::vector<pollfd> polls;
  while (true) {
    polls.clear();
    entrance.watch(polls);
    // The next rank may be in its first exchange already; what it sends then is for later.
    if (next_->events() != 0) {
      polls.push_back({.fd = next_->descriptor(), .events = next_->events(), .revents = 0});
    }
    const Status status =
        executor_.poll({.descriptors = polls,
                        .what = "the previous rank to connect",
                        .abort = waiting.abort,
                        .deadline = std::min(entrance.next_look(), waiting.deadline)});
    if (!status && status.error().code != Code::kDeadline) return status.error();
    if (!status && executor_.now() >= waiting.deadline) {
      return Error::make(Code::kRankAbsent,
                         fmt::format("rank {} did not connect to rank {}", previous_rank, rank_));
    }
    auto news = entrance.advance(std::span(polls).first(entrance.watched()), executor_.now());
    if (!news.arrivals.empty()) {
      previous_.emplace(std::move(news.arrivals.front().socket), previous_rank);
      root.close();
      return ok();
    }
    if (news.wrong) return *news.wrong;
    COMMRIG_ASSIGN(const bool there, next_->look());
    if (!there) {
      return Error::make(Code::kRankLost,
                         fmt::format("rank {} at {} was lost before rank {} was connected",
                                     (rank_ + 1) % ranks_, next_->peer(), rank_));
    }
  }
}

Status Ring::all_gather(std::span<std::byte> blocks, std::size_t block_bytes) {
  if (failed_) return *failed_;
  const auto ranks = static_cast<std::size_t>(ranks_);
  if (block_bytes >= kNoticeFlag || blocks.size() != ranks * block_bytes) {
    return Error::make(Code::kBadArgument,
                       fmt::format("all-gather of {} blocks of {} bytes (less than {}) in a buffer "
                                   "of {} bytes",
                                   ranks, block_bytes, kNoticeFlag, blocks.size()));
  }
  const Status status = gather(blocks, block_bytes);
  return status ? status : give_up(status.error());
}

Status Ring::gather(std::span<std::byte> blocks, std::size_t block_bytes) {
  const Waiting waiting{executor_, &abort_, deadline_of(executor_, exchange_within_)};
  const auto block = [&](int index) {
    const int wrapped = (index % ranks_ + ranks_) % ranks_;
    return blocks.subspan(static_cast<std::size_t>(wrapped) * block_bytes, block_bytes);
  };
  const int rounds = ranks_ / 2;
  for (int round = 0; round < rounds; ++round) {
    next_->begin_send(block(rank_ - round));
    previous_->begin_recv(block(rank_ - round - 1));
    const bool both_ways = round + 1 < rounds || ranks_ % 2 != 0;
    if (both_ways) {
      previous_->begin_send(block(rank_ + round));
      next_->begin_recv(block(rank_ + round + 1));
    }
    COMMRIG_TRY(finish_round(waiting));
  }
  return ok();
}

Status Ring::finish_round(const Waiting& waiting) {
  const std::array channels{&*next_, &*previous_};
  while (true) {
    std::array<pollfd, 2> polls{};
    std::size_t count = 0;
    bool done = true;
    for (Channel* channel : channels) {
      COMMRIG_TRY(channel->step());
      // A neighbour that has ended is none of our concern when it has sent everything.
      if (!channel->receiving()) COMMRIG_TRY(channel->look());
      done = done && !channel->sending() && !channel->receiving();
      if (channel->events() == 0) continue;
      polls[count++] = {.fd = channel->descriptor(), .events = channel->events(), .revents = 0};
    }
    if (done) return ok();
    COMMRIG_TRY(executor_.poll({.descriptors = std::span(polls).first(count),
                                .what = "blocks of the neighbours in the ring",
                                .abort = waiting.abort,
                                .deadline = waiting.deadline}));
  }
}

Status Ring::barrier() {
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(ranks_));
  counts[static_cast<std::size_t>(rank_)] = ++barriers_;
  COMMRIG_TRY(all_gather(std::as_writable_bytes(std::span(counts)), sizeof(std::uint32_t)));
  const auto other =
      std::ranges::find_if(counts, [this](auto count) { return count != barriers_; });
  if (other == counts.end()) return ok();
  return give_up(Error::make(Code::kSetupMismatch,
                             fmt::format("rank {} is at barrier {}, rank {} at barrier {}", rank_,
                                         barriers_, other - counts.begin(), *other)));
}

// The neighbours learn why before they see the connections end.
Status Ring::give_up(const Error& error) {
  failed_ = error;
  next_->say(error);
  previous_->say(error);
  next_.reset();
  previous_.reset();
  return error;
}

}  // namespace

Result<std::unique_ptr<Exchange>> join_ring(Executor& executor, const UniqueId& id, int rank,
                                            int ranks, const RingOptions& options) {
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    return Error::make(Code::kBadArgument,
                       fmt::format("rank {} of {}; ranks count from 0", rank, ranks));
  }
  auto ring = std::make_unique<Ring>(executor, rank, ranks, options);
  COMMRIG_TRY(ring->connect(id, options));
  return std::unique_ptr<Exchange>(std::move(ring));
}

}  // namespace commrig::bootstrap
