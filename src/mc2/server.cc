// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/server.h"

#include <algorithm>

#include "base/log.h"

namespace commrig::mc2 {
Server::Server(device::Machine& machine, std::vector<Workspace> workspaces, device::Window doorbell,
               Members& members, AbortFlag& abort, const ServerOptions& options)
    : machine_(machine),
      accessor_(machine.executor(), -1),
      doorbell_(std::move(doorbell)),
      members_(members),
      abort_(abort),
      options_(options),
      submissions_(workspaces.size()) {
  const auto ranks = static_cast<std::uint32_t>(workspaces.size());
  ports_.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ports_.emplace_back(std::move(workspaces[rank]), machine.memory(), static_cast<int>(rank),
                        ranks);
  }
  machine.executor().spawn(Role::kService, "cr-mc2-server", [this] { run(); });
}

Server::~Server() {
  Executor& executor = machine_.executor();
  closing_.store(true, std::memory_order_release);
  // The bell is what the thread waits for.
  const Result<std::uint64_t> rung = accessor_.add<std::uint64_t>(doorbell_, 0, 1);
  COMMRIG_CHECK(rung.has_value(), to_string(rung.error()));
  const Status ended =
      executor.wait({.key = &ended_,
                     .ready = [this] { return ended_.load(std::memory_order_acquire); },
                     .what = "the end of the server's thread"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
}

void Server::run() {
  std::uint64_t seen = 0;
  while (look(seen)) {
    const Nanos deadline =
        options_.poll_interval == kForever ? kForever : accessor_.now() + options_.poll_interval;
    const Status rung = accessor_.wait<std::uint64_t>(
        doorbell_, 0, Compare::kNotEqual, seen, {.what = "the doorbell", .deadline = deadline});
    if (!rung && rung.error().code != Code::kDeadline) {
      fail({.code = rung.error().code, .detail = rung.error().message});
      break;
    }
  }
  Executor& executor = machine_.executor();
  const void* key = &ended_;
  ended_.store(true, std::memory_order_release);
  executor.wake(key);  // The server may be gone by now; the key is only a number.
}

// Does everything that can be done; false when it is time to end. `seen`: the bell's count before
// the look, so that whatever comes during it rings again.
bool Server::look(std::uint64_t& seen) {
  const Result<std::uint64_t> bell = accessor_.load<std::uint64_t>(doorbell_, 0);
  if (!bell) {
    fail({.code = bell.error().code, .detail = bell.error().message});
    return false;
  }
  seen = *bell;
  // After the bell: whoever closes rings afterwards.
  if (closing_.load(std::memory_order_acquire)) return false;
  if (failed()) return true;
  // Asked before the last look at the workspaces: what an ended kernel has written is then seen.
  const std::vector<MemberState> members = members_.states();
  while (serve() && !failed()) {
  }
  for (Port& port : ports_) {
    port.check_ended();
    if (!failed() && port.finding().has_value()) fail(*port.finding());
  }
  if (!failed() && !find_straggler()) find_leaver(members);
  if (!failed() && members_.all_blocked()) find_stall();
  return true;
}

bool Server::serve() {
  bool progressed = false;
  std::uint64_t messages = 0;
  for (Port& port : ports_) {
    progressed |= port.scan();
    messages += port.messages();
    if (port.finding().has_value()) {
      fail(*port.finding());
      return false;
    }
  }
  messages_.store(messages, std::memory_order_relaxed);
  for (std::uint32_t slot = 0; slot < ports_.front().workspace().layout().slots && !failed();
       ++slot) {
    if (ports_.front().slot(slot).submission.has_value()) progressed |= serve_slot(slot);
  }
  return progressed;
}

// Whether all ranks are in the same kernel and have submitted this slot.
bool Server::gather_submissions(std::uint32_t slot) {
  for (std::size_t rank = 0; rank < ports_.size(); ++rank) {
    const std::optional<Submission>& submission = ports_[rank].slot(slot).submission;
    if (!submission.has_value() || ports_[rank].epoch() != ports_.front().epoch()) return false;
    submissions_[rank] = &*submission;
  }
  return true;
}

bool Server::serve_slot(std::uint32_t slot) {
  const std::uint64_t done = ports_.front().slot(slot).done;
  std::uint64_t committed = ports_.front().slot(slot).committed;
  for (const Port& port : ports_) committed = std::min(committed, port.slot(slot).committed);
  if (committed <= done || !gather_submissions(slot)) return false;
  const Layout& layout = ports_.front().workspace().layout();
  if (done == 0 || !layout.carries_repeat) {
    auto finding = check_agreement(submissions_, layout, static_cast<int>(slot));
    if (!finding) finding = check_separation(submissions_, layout, static_cast<int>(slot));
    if (finding) {
      fail(std::move(*finding));
      return false;
    }
  }
  for (std::uint64_t turn = done + 1; turn <= committed; ++turn) {
    if (!perform(slot, turn)) return false;
  }
  return true;
}

bool Server::perform(std::uint32_t slot, std::uint64_t turn) {
  const auto publish = [&](Phase phase) {
    if (!machine_.events().active()) return;
    machine_.events().publish({.time = accessor_.now(),
                               .name = kTurnEvent,
                               .phase = phase,
                               .a = slot,
                               .b = static_cast<std::int64_t>(turn)});
  };
  publish(Phase::kBegin);
  const Status performed = perform_turn(submissions_, turn - 1);
  publish(Phase::kEnd);
  if (!performed) {
    fail({.code = performed.error().code,
          .slot = static_cast<int>(slot),
          .detail = performed.error().message});
    return false;
  }
  turns_.fetch_add(1, std::memory_order_relaxed);
  for (Port& port : ports_) port.finish(slot, turn);
  return true;
}

void Server::fail(Finding finding) {
  failed_ = true;
  log(LogLevel::kError, to_string(to_error(finding)));
  const Error error = to_error(finding);
  *finding_.lock() = std::move(finding);
  abort_.raise(error, machine_.executor());
}

}  // namespace commrig::mc2
