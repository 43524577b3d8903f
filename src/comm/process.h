// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "base/guarded.h"
#include "base/thread_executor.h"
#include "bootstrap/identity.h"
#include "device/machine.h"
#include "transport/poller.h"
#include "transport/segment.h"

namespace commrig::comm {

class Team;

// What communicators of one process need to reach ranks of others: the machine whose works they
// are, a thread that watches sockets, and a door at which other processes ring. Thread-safe; must
// outlive its communicators.
class Process {
 public:
  // Once per machine, before works are enqueued. Executor and machine must outlive it.
  static Result<std::unique_ptr<Process>> create(ThreadExecutor& executor, device::Machine& machine,
                                                 const bootstrap::Identity& identity);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  device::Machine& machine() { return machine_; }
  ThreadExecutor& executor() { return executor_; }
  transport::Poller& poller() { return *poller_; }
  const transport::Segment& door() const { return *door_; }
  const bootstrap::Identity& identity() const { return identity_; }

  // A number that no other communicator has.
  std::uint64_t next_number() {
    return identity_.process ^ identity_.host << 1U ^ next_.fetch_add(0x9E3779B97F4A7C15U);
  }

  // Ranks of one process that join one communicator share its team. The rank that makes it shows
  // it, or the error that it met; the others wait for that, each once, with `takers` in all.
  void show(std::uint64_t number, Result<std::shared_ptr<Team>> team, int takers);
  Result<std::shared_ptr<Team>> take(std::uint64_t number);

 private:
  struct Shown {
    Result<std::shared_ptr<Team>> team;  // until all takers have it
    int takers;
  };
  Process(ThreadExecutor& executor, device::Machine& machine, const bootstrap::Identity& identity)
      : executor_(executor), machine_(machine), identity_(identity) {}

  ThreadExecutor& executor_;
  device::Machine& machine_;
  bootstrap::Identity identity_;
  std::atomic<std::uint64_t> next_{1};
  std::shared_ptr<transport::Segment> door_;  // shared with the executor and the machine
  std::unique_ptr<transport::Poller> poller_;
  Guarded<std::map<std::uint64_t, Shown>> shown_;
};

}  // namespace commrig::comm
