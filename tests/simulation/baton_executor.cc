// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/simulation/baton_executor.h"

#include <algorithm>
#include <utility>

namespace commrig::simulation {
namespace {

// Which participant the calling thread is.
thread_local std::size_t self_index = 0;

}  // namespace

BatonExecutor::BatonExecutor(std::uint64_t seed) : rng_(seed) {
  self_index = 0;
  participants_.push_back(std::make_unique<Participant>());
}

BatonExecutor::~BatonExecutor() {
  for (std::thread& thread : threads_) thread.join();
}

Nanos BatonExecutor::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

Status BatonExecutor::spawn(Role role, std::string name, std::function<void()> body) {
  (void)role;
  (void)name;
  const std::lock_guard lock(mutex_);
  const std::size_t index = participants_.size();
  participants_.push_back(std::make_unique<Participant>());
  threads_.emplace_back([this, index, body = std::move(body)] {
    self_index = index;
    {
      std::unique_lock start(mutex_);
      passed_.wait(start, [&] { return holder_ == index; });
    }
    body();
    std::unique_lock end(mutex_);
    participants_[index]->ended = true;
    choose_next();
    passed_.notify_all();
  });
  return ok();
}

bool BatonExecutor::can_go_on(const Participant& participant) const {
  if (participant.ended) return false;
  const WaitSpec* const spec = participant.waits_for;
  if (spec == nullptr || participant.timed_out || stalled_) return true;
  return spec->ready() || (spec->abort != nullptr && spec->abort->raised());
}

// Gives the baton to one who can go on. When there is none, time jumps to the earliest deadline;
// when there is no deadline either, every wait is told so.
bool BatonExecutor::choose_next() {
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < participants_.size(); ++i) {
    if (can_go_on(*participants_[i])) ready.push_back(i);
  }
  if (ready.empty()) {
    Participant* first = nullptr;
    for (const auto& each : participants_) {
      if (each->ended || each->waits_for->deadline == kForever) continue;
      if (first == nullptr || each->waits_for->deadline < first->waits_for->deadline)
        first = each.get();
    }
    if (first != nullptr) {
      now_ = std::max(now_, first->waits_for->deadline);
      first->timed_out = true;
    } else {
      stalled_ = true;
      if (std::ranges::all_of(participants_, &Participant::ended)) return false;
    }
    return choose_next();
  }
  holder_ = ready[rng_.below(ready.size())];
  schedule_.push_back(holder_);
  return true;
}

void BatonExecutor::pass(std::unique_lock<std::mutex>& lock, std::size_t self) {
  choose_next();
  passed_.notify_all();
  passed_.wait(lock, [&] { return holder_ == self; });
}

Status BatonExecutor::wait(const WaitSpec& spec) {
  const std::size_t self = self_index;
  std::unique_lock lock(mutex_);
  Participant& me = *participants_[self];
  if (spec.ready()) return ok();
  if (spec.post != nullptr && spec.condition != nullptr)
    spec.post->post(*spec.condition, spec.what);
  lock.unlock();
  if (spec.observer != nullptr) spec.observer->on_blocked();
  lock.lock();
  me.waits_for = &spec;
  pass(lock, self);
  me.waits_for = nullptr;
  const bool timed_out = std::exchange(me.timed_out, false);
  lock.unlock();
  if (spec.post != nullptr) spec.post->clear();
  if (spec.observer != nullptr) spec.observer->on_resumed();
  if (spec.ready()) return ok();
  if (spec.abort != nullptr && spec.abort->raised()) return *spec.abort->error();
  if (timed_out) return Error::make(Code::kDeadline, std::string("waited for ") + spec.what);
  return Error::make(Code::kStalled, std::string("nobody can go on; waited for ") + spec.what);
}

void BatonExecutor::before(const Access& access) {
  (void)access;
  std::unique_lock lock(mutex_);
  pass(lock, self_index);
}

}  // namespace commrig::simulation
