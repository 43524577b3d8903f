// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/thread_ranks.h"

#include <latch>

#include <fmt/format.h>

namespace commrig::cli::bench {

Result<std::unique_ptr<ThreadRanks>> ThreadRanks::create(int ranks,
                                                         const comm::CommunicatorOptions& options) {
  std::unique_ptr<ThreadRanks> made(new ThreadRanks);  // tidy: allow(new) private constructor
  COMMRIG_ASSIGN(made->comms_, comm::Communicator::create_all(made->machine_, ranks, options));
  return made;
}

Status ThreadRanks::run(const std::function<Status(int rank)>& body) {
  std::vector<Status> results(comms_.size(), ok());
  std::latch ended(static_cast<std::ptrdiff_t>(comms_.size()));
  for (std::size_t r = 0; r < comms_.size(); ++r) {
    const int rank = static_cast<int>(r);
    const Status spawned =
        executor_.spawn(Role::kUserCode, fmt::format("rank {}", rank), [&, r, rank] {
          results[r] = body(rank);
          if (!results[r]) comms_[r]->abort();
          ended.count_down();
        });
    if (spawned) continue;
    results[r] = spawned;
    comms_[r]->abort();
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
