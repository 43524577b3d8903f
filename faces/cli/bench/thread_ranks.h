// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/events.h"
#include "base/thread_executor.h"
#include "comm/communicator.h"
#include "device/machine.h"

namespace commrig::cli::bench {

// Ranks as threads of this process.
class ThreadRanks {
 public:
  static Result<std::unique_ptr<ThreadRanks>> create(int ranks,
                                                     const comm::CommunicatorOptions& options);

  // Runs the body on a thread for each rank and waits for all of them. One that fails ends the
  // others; the result is the first error that isn't a consequence of that.
  Status run(const std::function<Status(int rank)>& body);

  comm::Communicator& communicator(int rank) { return *comms_[static_cast<std::size_t>(rank)]; }
  device::Machine& machine() { return machine_; }

 private:
  ThreadRanks() : machine_(executor_, events_, {.devices = 1, .bytes_per_device = kBytes}) {}
  static constexpr std::size_t kBytes = std::size_t{1} << 46U;  // of addresses; pages are counted

  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  std::vector<std::unique_ptr<comm::Communicator>> comms_;
};

}  // namespace commrig::cli::bench
