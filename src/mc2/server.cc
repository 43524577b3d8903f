// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/server.h"

#include <algorithm>

namespace commrig::mc2 {

Server::Server(device::Machine& machine, std::vector<Workspace> workspaces,
               const device::Window& bell, Members& members, AbortFlag& abort,
               const ServerOptions& options)
    : machine_(machine),
      accessor_(machine.executor(), -1),
      bell_(bell),
      options_(options),
      engine_(machine, std::move(workspaces), members, abort, [this] { hand_over(); }),
      doorbell_(machine, bell, [this](int rank, device::Doorbell::Caller caller) {
        engine_.serve(rank, caller == device::Doorbell::Caller::kComputes);
      }) {
  started_ = machine.executor().spawn(Role::kService, "cr-mc2-server", [this] { run(); });
  if (!started_) ended_.store(true, std::memory_order_release);
}

Server::~Server() {
  Executor& executor = machine_.executor();
  closing_.store(true, std::memory_order_release);
  wake();
  const Status ended =
      executor.wait({.key = &ended_,
                     .ready = [this] { return ended_.load(std::memory_order_acquire); },
                     .what = "the end of the server's thread"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
}

void Server::wake() {
  device::Accessor accessor(machine_.executor(), -1);
  const Result<std::uint64_t> rung = accessor.add<std::uint64_t>(bell_, 0, 1);
  COMMRIG_CHECK(rung.has_value(), to_string(rung.error()));
}

void Server::hand_over() {
  handed_over_.fetch_add(1, std::memory_order_acq_rel);
  wake();
}

void Server::run() {
  std::uint64_t seen = 0;
  while (look(seen)) {
    const Nanos deadline =
        options_.poll_interval == kForever ? kForever : accessor_.now() + options_.poll_interval;
    const Status rung = accessor_.wait<std::uint64_t>(
        bell_, 0, Compare::kNotEqual, seen, {.what = "the doorbell", .deadline = deadline});
    if (!rung && rung.error().code != Code::kDeadline) {
      engine_.give_up({.code = rung.error().code, .detail = rung.error().message});
      break;
    }
  }
  Executor& executor = machine_.executor();
  const void* key = &ended_;
  ended_.store(true, std::memory_order_release);
  executor.wake(key);  // The server may be gone by now; the key is only a number.
}

// Does everything that can be done; false when it is time to end. `seen`: the bell's count at the
// last look, and from before this one, so that whatever comes during it rings again.
bool Server::look(std::uint64_t& seen) {
  const Result<std::uint64_t> bell = accessor_.load<std::uint64_t>(bell_, 0);
  if (!bell) {
    engine_.give_up({.code = bell.error().code, .detail = bell.error().message});
    return false;
  }
  const std::uint64_t rung = *bell - seen;
  seen = *bell;
  // After the bell: whoever closes rings afterwards.
  if (closing_.load(std::memory_order_acquire)) return false;
  // Counted before the bell is rung, so a ring for another reason is never taken for a hand-over.
  const std::uint64_t handed_over = handed_over_.load(std::memory_order_acquire) - taken_over_;
  taken_over_ += std::min(rung, handed_over);
  if (rung != 0 && rung <= handed_over) {
    engine_.take_over();
  } else {
    engine_.look();
  }
  return true;
}

}  // namespace commrig::mc2
