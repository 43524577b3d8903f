// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/door.h"
#include "base/executor.h"
#include "base/futex.h"
#include "base/guarded.h"
#include "base/pollers.h"

namespace commrig {

// Real threads at full speed. Threads come from an unbounded pool and are used again. The
// destructor joins them; by then every body must have been told to end.
//
// A wait spins for about 2 us while the running ranks fit the cores, and those of the host, of
// which it may be told, fit the cores of the host. Then it yields up to about 100 times as long as
// no rank computes (one that has just stopped waiting may wait again at once and does not count
// yet), then it sleeps on a futex. Of many more waiters than cores only as many yield as there are
// cores. Sleepers are found by a hash of their key; a wake without sleepers costs one atomic
// exchange.
class ThreadExecutor final : public Executor {
 public:
  // `cores`: 0 takes the number of cores that this process may use.
  explicit ThreadExecutor(unsigned cores = 0);
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  Nanos now() const override { return clock_.now(); }
  Status spawn(Role role, std::string name, std::function<void()> body) override;
  Status wait(const WaitSpec& spec) override;
  Status poll(const PollSpec& spec) override { return pollers_.poll(spec, clock_); }
  void wake(const void* key) override;
  void wake_all() override;
  void wake_each(std::span<const void* const> keys) override;
  void enter_user_code() override;
  void leave_user_code() override;
  void enter_service() override;
  void leave_service() override;
  int spare_cores() const override;

  // How many threads of the process are not of this executor; -1 while one of its own runs user
  // code, which may do anything too. Costs a look into /proc.
  int outsiders();

  // From now on, waits with this key sleep at the door, where other processes may ring; `ready` has
  // to look at door.rung then. Those who sleep already move to it. One key per executor, and not
  // one for wake_each(). The door stays with the executor: it is shared with those whose threads
  // sleep at it and ring it.
  void use_door(const void* key, std::shared_ptr<Door> door);
  // The same for a door that outlives the executor's use.
  void use_door(const void* key, Door& door) {
    use_door(key, std::shared_ptr<Door>(std::shared_ptr<void>(), &door));
  }

  // That so many ranks of this host, those of other processes included, wait for each other; the
  // largest number counts. Whoever waits for a rank that has no core must not spin. Any thread.
  void know_of_host_ranks(int ranks);

  // Whether a wait spins before it yields, as things are.
  bool spins() const;

 private:
  // Those who sleep on keys of one hash value.
  using Bucket = SleepPlace;
  struct Job {
    Role role;
    std::string name;
    std::function<void()> body;
  };
  static constexpr std::size_t kBuckets = 1024;

  Bucket& bucket_of(const void* key);
  Reach reach_of(const Bucket& bucket) const;
  void wake_bucket(Bucket& bucket) const;
  bool help_to_wake();
  bool spin(const WaitSpec& spec) const;
  bool yield(const WaitSpec& spec);
  bool somebody_computes() const;
  void stop_computing();
  void go_on_computing();
  Status sleep(const WaitSpec& spec);
  void serve_pool();

  RealClock clock_;
  unsigned cores_;
  unsigned host_cores_;
  std::atomic<int> host_ranks_{0};
  std::atomic<int> running_{0};         // ranks inside user code, waiting or not
  std::atomic<int> computing_{0};       // of these, the ones that do not wait
  std::atomic<int> yielding_{0};        // waiters
  std::atomic<Nanos::rep> went_on_{0};  // when one of them last stopped waiting
  // Apart, since executors often lie on a stack, and a stack may be small.
  const std::unique_ptr<std::array<Bucket, kBuckets>> buckets_ =
      std::make_unique<std::array<Bucket, kBuckets>>();
  std::shared_ptr<Door> kept_door_;  // shared, see use_door
  std::atomic<Door*> door_{nullptr};
  std::atomic<const void*> door_key_{nullptr};  // set after door_
  Pollers pollers_;

  // Buckets that were announced to their sleepers and are still to be woken.
  Guarded<std::deque<Bucket*>> unwoken_;
  std::atomic<std::size_t> unwoken_count_{0};

  std::mutex pool_mutex_;
  std::condition_variable pool_wake_;
  std::deque<Job> jobs_;
  std::size_t idle_ = 0;
  std::size_t user_jobs_ = 0;  // that run, or wait for a thread
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace commrig
