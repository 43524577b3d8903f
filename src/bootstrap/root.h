// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/abort.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/guarded.h"
#include "base/result.h"
#include "bootstrap/entrance.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

struct RootOptions {
  Address listen = Address::loopback(AF_INET);  // port 0 takes a free one
  std::optional<std::uint64_t> magic{};         // of the id; drawn by chance by default
  // Both count from the first check-in. Missing ranks are logged again and again, and at the
  // deadline every rank that waits fails with kRankAbsent.
  Nanos name_missing_every = std::chrono::seconds(10);
  Nanos ranks_within = kForever;
  EntranceLimits limits{};
};

// Where the ranks of one unique id find each other: each checks in, and is told where its successor
// in the ring listens as soon as that one is known. What is wrong (a rank that comes twice, another
// number of ranks, a rank that ends while others are missing) fails all ranks that wait. Serves one
// communicator; whoever checks in after that is refused with kIdUsed for as long as the root lives.
// Thread-safe.
class Root {
 public:
  // Listens and raises the process's limit of open files; serves on a thread of the executor.
  static Result<std::unique_ptr<Root>> open(Executor& executor, const RootOptions& options = {});
  // Closes and joins. Ranks that still wait fail.
  ~Root();
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  const UniqueId& id() const { return id_; }
  // How many ranks have checked in.
  int present() const { return present_.load(std::memory_order_acquire); }
  // Returns when every rank has its answer, or with what went wrong.
  Status wait_served(const AbortFlag* abort = nullptr, Nanos deadline = kForever);
  // Returns when that many ranks have checked in, or the root has failed or closed.
  Status wait_present(int ranks, const AbortFlag* abort = nullptr, Nanos deadline = kForever);
  // The same for ranks whose end the root would see; ranks of other libraries never are.
  Status wait_attached(int ranks, const AbortFlag* abort = nullptr, Nanos deadline = kForever);
  // Ends the service; does not wait for that.
  void close();

 private:
  friend class RootService;
  Root(Executor& executor, const UniqueId& id) : executor_(executor), id_(id) {}
  void set_outcome(const Status& outcome);
  void count(std::atomic<int>& counter);
  Status wait_for(const std::atomic<int>& counter, int ranks, const AbortFlag* abort,
                  Nanos deadline);

  Executor& executor_;
  UniqueId id_;
  AbortFlag closing_;
  std::atomic<int> present_{0};
  std::atomic<int> attached_{0};
  std::atomic<bool> decided_{false};
  std::atomic<bool> running_{false};
  Guarded<std::optional<Status>> outcome_;
};

}  // namespace commrig::bootstrap
