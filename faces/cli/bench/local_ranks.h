// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/events.h"
#include "base/thread_executor.h"
#include "bootstrap/launch.h"
#include "comm/communicator.h"
#include "comm/lobby.h"
#include "device/machine.h"

namespace commrig::cli::bench {

// The ranks of a bench that one of its processes has.
struct Share {
  int first = 0;
  int count = 0;
};

// Of `ranks` ranks, at least one for each process; the first processes have one more where they
// don't come out even.
Share share_of(int ranks, int process, int processes);

// Ranks as threads of this process: all, or its share of a job of several processes.
class LocalRanks {
 public:
  static Result<std::unique_ptr<LocalRanks>> create(int ranks,
                                                    const comm::CommunicatorOptions& options);
  // `launch` is the process in its job, all processes of which call this. Fails with the errors of
  // Lobby::join.
  static Result<std::unique_ptr<LocalRanks>> join(const bootstrap::Launch& launch, int ranks,
                                                  const comm::CommunicatorOptions& options);

  // Runs the body on a thread for each of these ranks and waits for all of them. One that fails
  // ends the others; the result is the first error that isn't a consequence of that.
  Status run(const std::function<Status(int rank)>& body);

  const Share& share() const { return share_; }
  comm::Communicator& communicator(int rank) {
    return *comms_[static_cast<std::size_t>(rank - share_.first)];
  }
  device::Machine& machine() { return machine_; }

 private:
  LocalRanks();
  Result<bootstrap::UniqueId> share_id(const bootstrap::Launch& launch,
                                       const comm::CommunicatorOptions& options);
  Status join_all(const bootstrap::UniqueId& id, int ranks,
                  const comm::CommunicatorOptions& options);
  Status on_threads(const std::function<Status(int rank)>& body,
                    const std::function<void(int rank, const Error&)>& on_error);
  static constexpr std::size_t kBytes = std::size_t{1} << 46U;  // of addresses; pages are counted

  Share share_;
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  comm::Lobby lobby_;
  std::unique_ptr<comm::Communicator> processes_;  // by which they hand over an id
  std::vector<std::unique_ptr<comm::Communicator>> comms_;
};

}  // namespace commrig::cli::bench
