// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/local_ranks.h"

#include <algorithm>
#include <latch>

#include <fmt/format.h>

namespace commrig::cli::bench {

Share share_of(int ranks, int process, int processes) {
  const int each = ranks / processes;
  const int more = ranks % processes;
  return {.first = process * each + std::min(process, more),
          .count = each + (process < more ? 1 : 0)};
}

LocalRanks::LocalRanks()
    : machine_(executor_, events_, {.devices = 1, .bytes_per_device = kBytes}),
      lobby_(executor_, machine_, bootstrap::process_environment) {}

Result<std::unique_ptr<LocalRanks>> LocalRanks::create(int ranks,
                                                       const comm::CommunicatorOptions& options) {
  std::unique_ptr<LocalRanks> made(new LocalRanks);  // tidy: allow(new) private constructor
  made->share_ = {.first = 0, .count = ranks};
  COMMRIG_ASSIGN(made->comms_, comm::Communicator::create_all(made->machine_, ranks, options));
  return made;
}

Result<std::unique_ptr<LocalRanks>> LocalRanks::join(const bootstrap::Launch& launch, int ranks,
                                                     const comm::CommunicatorOptions& options) {
  std::unique_ptr<LocalRanks> made(new LocalRanks);  // tidy: allow(new) private constructor
  made->share_ = share_of(ranks, launch.rank, launch.ranks);
  COMMRIG_ASSIGN(const bootstrap::UniqueId id, made->share_id(launch, options));
  COMMRIG_TRY(made->join_all(id, ranks, options));
  return made;
}

// The processes, one rank each, join first: the launcher knows no others.
Result<bootstrap::UniqueId> LocalRanks::share_id(const bootstrap::Launch& launch,
                                                 const comm::CommunicatorOptions& options) {
  COMMRIG_ASSIGN(processes_, lobby_.join(launch, {.communicator = {.team = options.team}}));
  bootstrap::UniqueId::Bytes bytes{};
  if (launch.rank == 0) {
    COMMRIG_ASSIGN(const bootstrap::UniqueId id, lobby_.make_id());
    bytes = id.bytes();
  }
  COMMRIG_ASSIGN(const auto stream, machine_.create_stream(0));
  COMMRIG_TRY(processes_->enqueue(*stream, {.collective = coll::Collective::kBroadcast,
                                            .input = bytes.data(),
                                            .output = bytes.data(),
                                            .count = bytes.size(),
                                            .dtype = dtype::Dtype::kUint8}));
  COMMRIG_TRY(machine_.synchronize(*stream));
  return bootstrap::UniqueId::from_bytes(bytes);
}

Status LocalRanks::join_all(const bootstrap::UniqueId& id, int ranks,
                            const comm::CommunicatorOptions& options) {
  comms_.resize(static_cast<std::size_t>(share_.count));
  AbortFlag abort;
  return on_threads(
      [&](int rank) -> Status {
        COMMRIG_ASSIGN(comms_[static_cast<std::size_t>(rank - share_.first)],
                       lobby_.join(id, rank, ranks, {.communicator = options, .abort = &abort}));
        return ok();
      },
      [&](int, const Error& error) { abort.raise(error, executor_); });
}

Status LocalRanks::run(const std::function<Status(int rank)>& body) {
  return on_threads(body, [this](int rank, const Error&) { communicator(rank).abort(); });
}

Status LocalRanks::on_threads(const std::function<Status(int rank)>& body,
                              const std::function<void(int rank, const Error&)>& on_error) {
  const auto count = static_cast<std::size_t>(share_.count);
  std::vector<Status> results(count, ok());
  std::latch ended(static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const int rank = share_.first + static_cast<int>(i);
    const Status spawned =
        executor_.spawn(Role::kUserCode, fmt::format("rank {}", rank), [&, i, rank] {
          results[i] = body(rank);
          if (!results[i]) on_error(rank, results[i].error());
          ended.count_down();
        });
    if (spawned) continue;
    results[i] = spawned;
    on_error(rank, spawned.error());
    ended.count_down();
  }
  ended.wait();
  const Status* first = nullptr;
  for (const Status& result : results) {
    if (result) continue;
    const bool better = first == nullptr || (first->error().code == Code::kAborted &&
                                             result.error().code != Code::kAborted);
    if (better) first = &result;
  }
  return first == nullptr ? ok() : *first;
}

}  // namespace commrig::cli::bench
