// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/process.h"

#include <new>
#include <optional>

#include "base/door.h"
#include "comm/team.h"
#include "transport/peer_memory.h"

namespace commrig::comm {

Result<std::unique_ptr<Process>> Process::create(ThreadExecutor& executor, device::Machine& machine,
                                                 const bootstrap::Identity& identity) {
  std::unique_ptr<Process> process(
      new Process(executor, machine, identity));  // tidy: allow(new) private
  COMMRIG_ASSIGN(transport::Segment segment,
                 transport::Segment::create("commrig-door", sizeof(Door)));
  process->door_ = std::make_shared<transport::Segment>(std::move(segment));
  auto* const place = new (process->door_->base()) Door;  // tidy: allow(new) placement
  // Threads may sleep at the door for longer than the process object lives.
  const std::shared_ptr<Door> door(process->door_, place);
  COMMRIG_ASSIGN(process->poller_, transport::Poller::start(executor));
  executor.use_door(machine.wait_key(), door);
  machine.use_door(door);
  transport::allow_readers();
  return process;
}

Process::~Process() = default;

void Process::show(std::uint64_t number, Result<std::shared_ptr<Team>> team, int takers) {
  if (takers == 0) return;
  shown_.lock()->emplace(number, Shown{std::move(team), takers});
  executor_.wake(&shown_);
}

Result<std::shared_ptr<Team>> Process::take(std::uint64_t number) {
  const auto has_come = [this, number] { return shown_.lock()->contains(number); };
  COMMRIG_TRY(executor_.wait({.key = &shown_, .ready = has_come, .what = "a communicator"}));
  const auto shown = shown_.lock();
  const auto found = shown->find(number);
  Result<std::shared_ptr<Team>> team = found->second.team;
  if (--found->second.takers == 0) shown->erase(found);
  return team;
}

}  // namespace commrig::comm
