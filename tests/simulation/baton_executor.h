// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/rng.h"

namespace commrig::simulation {

// The simplest deterministic executor: real threads, of which exactly one holds the baton and runs.
// It is passed on at every wait and every observed access, to a participant that the seed chooses
// among those who can go on. Time is virtual: it moves only when nobody can go on and somebody has
// a deadline. When nobody can go on and nobody has one, every wait ends with kStalled.
//
// The thread that makes the executor is its first participant and must be the last: by the time of
// the destructor every spawned body has ended.
class BatonExecutor final : public Executor, private AccessHook {
 public:
  explicit BatonExecutor(std::uint64_t seed);
  ~BatonExecutor() override;
  BatonExecutor(const BatonExecutor&) = delete;
  BatonExecutor& operator=(const BatonExecutor&) = delete;

  Nanos now() const override;
  Status spawn(Role role, std::string name, std::function<void()> body) override;
  Status wait(const WaitSpec& spec) override;
  // Nothing to do: whether a waiter can go on is asked whenever the baton is passed.
  void wake(const void* key) override { (void)key; }
  void wake_all() override {}
  AccessHook* access_hook() override { return this; }

  // The participants that got the baton, in order; two runs with one seed give the same.
  const std::vector<std::size_t>& schedule() const { return schedule_; }

 private:
  struct Participant {
    const WaitSpec* waits_for = nullptr;  // null: can go on
    bool timed_out = false;
    bool ended = false;
  };
  void before(const Access& access) override;
  bool can_go_on(const Participant& participant) const;
  bool choose_next();
  void pass(std::unique_lock<std::mutex>& lock, std::size_t self);

  mutable std::mutex mutex_;
  std::condition_variable passed_;
  std::vector<std::unique_ptr<Participant>> participants_;
  std::vector<std::thread> threads_;
  std::size_t holder_ = 0;
  Nanos now_{0};
  bool stalled_ = false;
  Rng rng_;
  std::vector<std::size_t> schedule_;
};

}  // namespace commrig::simulation
