// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "device/doorbell.h"
#include "mc2/engine.h"

namespace commrig::mc2 {

struct ServerOptions {
  // How often to look at the workspaces of clients that ring no bell; kForever: only when it rings.
  Nanos poll_interval = kForever;
};

// One server for all ranks of a group: an engine, the doorbell that calls it, and a thread of its
// own. A rank that rings the doorbell runs the engine itself, so that a small turn costs no
// hand-over. The thread sleeps until there is something that no rank should do or can do: a turn
// whose bytes take long, the end of a kernel, ranks that all wait, a write into the doorbell's word
// by somebody who knows nothing of the doorbell.
class Server {
 public:
  // One workspace a rank, each over an accessor that only the server uses; `bell`: a word of 8
  // bytes. Everything must outlive the server; the members tell it which kernels run.
  Server(device::Machine& machine, std::vector<Workspace> workspaces, const device::Window& bell,
         Members& members, AbortFlag& abort, const ServerOptions& options);
  // Stops and joins the thread.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Whether the thread could be started; without it the server must not be used.
  const Status& started() const { return started_; }

  // Makes the thread look at everything. Thread-safe, does not wait.
  void wake();

  // As the engine's.
  std::optional<Finding> check_start(int rank) const { return engine_.check_start(rank); }
  void give_up(Finding finding) { engine_.give_up(std::move(finding)); }

  // Thread-safe.
  std::optional<Finding> finding() const { return engine_.finding(); }
  ServerCounts counts() const { return engine_.counts(); }

 private:
  void hand_over();
  void run();
  bool look(std::uint64_t& seen);

  device::Machine& machine_;
  device::Accessor accessor_;
  device::Window bell_;
  ServerOptions options_;
  Engine engine_;
  device::Doorbell doorbell_;
  std::atomic<std::uint64_t> handed_over_{0};  // how often the bell was rung for that alone
  std::uint64_t taken_over_ = 0;               // of these, by the thread
  std::atomic<bool> closing_{false};
  std::atomic<bool> ended_{false};
  Status started_ = ok();
};

}  // namespace commrig::mc2
