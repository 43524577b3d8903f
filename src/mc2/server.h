// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/abort.h"
#include "base/events.h"
#include "base/finding.h"
#include "base/guarded.h"
#include "device/machine.h"
#include "mc2/members.h"
#include "mc2/port.h"

namespace commrig::mc2 {

struct ServerOptions {
  // How often to look at the workspaces of clients that ring no bell; kForever: only when it rings.
  Nanos poll_interval = kForever;
};

struct ServerCounts {
  std::uint64_t messages = 0;  // taken from all ranks, finalize messages not counted
  std::uint64_t turns = 0;     // performed, each for all ranks together
};

// Names of the events that a server publishes (Event::name). a: slot, b: turn, from 1.
inline constexpr const char* kTurnEvent = "mc2.turn";

// One server for all ranks of a group: takes the messages that each rank's kernel submits, checks
// them, and performs the collectives turn by turn, once every rank has committed the turn. It has a
// thread of its own, which sleeps until a rank rings the doorbell.
//
// The first thing that is wrong is kept as a finding, logged, and raised on the abort flag, so that
// everybody who waits in the group ends with it; the server does nothing more after that.
class Server {
 public:
  // One workspace a rank, each over an accessor that only the server uses; `doorbell`: a word of
  // 8 bytes. Everything must outlive the server; the members tell it which kernels run.
  Server(device::Machine& machine, std::vector<Workspace> workspaces, device::Window doorbell,
         Members& members, AbortFlag& abort, const ServerOptions& options);
  // Stops and joins the thread.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Thread-safe.
  std::optional<Finding> finding() const { return *finding_.lock(); }
  ServerCounts counts() const { return {messages_.load(), turns_.load()}; }

 private:
  void run();
  bool look(std::uint64_t& seen);
  bool serve();
  bool serve_slot(std::uint32_t slot);
  bool perform(std::uint32_t slot, std::uint64_t turn);
  bool gather_submissions(std::uint32_t slot);
  bool find_straggler();
  void find_leaver(const std::vector<MemberState>& members);
  bool name_leaver(const Port& leaver, const std::vector<MemberState>& members);
  void find_stall();
  void fail(Finding finding);
  bool failed() const { return failed_; }

  device::Machine& machine_;
  device::Accessor accessor_;
  std::vector<Port> ports_;
  device::Window doorbell_;
  Members& members_;
  AbortFlag& abort_;
  ServerOptions options_;
  std::vector<const Submission*> submissions_;  // of the slot being served
  bool failed_ = false;                         // the server thread's own

  Guarded<std::optional<Finding>> finding_;
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<bool> closing_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace commrig::mc2
