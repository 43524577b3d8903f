// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/door.h"
#include "base/events.h"
#include "base/executor.h"
#include "base/fence.h"
#include "device/memory.h"
#include "device/remote.h"
#include "device/stream.h"
#include "device/stream_table.h"

namespace commrig::device {

class Doorbell;

// The simulated accelerators of a process: memory, and streams whose works are advanced by whoever
// synchronises, or by the sweeper when nobody does. Thread-safe. Streams must be destroyed before
// the machine.
class Machine {
 public:
  // Executor and event stream must outlive the machine.
  Machine(Executor& executor, EventStream& events, const MemoryOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Memory& memory() { return memory_; }
  RemoteKeys& remote_keys() { return remote_keys_; }
  Executor& executor() { return executor_; }
  EventStream& events() { return events_; }
  int devices() const { return memory_.devices(); }

  // Fails with kBadDevice, or kSystemCall when the machine's own thread could not be started.
  Result<std::unique_ptr<Stream>> create_stream(int device);

  // Waits until everything enqueued so far on the stream (the device) has ended, advancing all
  // streams meanwhile, so that one thread may drive many devices. Returns the stream's sticky error
  // (of the device: the first found), kDeadline, or kBadDevice. Must not be called from a kernel or
  // callback.
  Status synchronize(Stream& stream, Nanos deadline = kForever);
  Status synchronize_device(int device, Nanos deadline = kForever);

  // Advances all streams until `done` holds; kDeadline when it doesn't in time.
  Status drive_until(FunctionRef<bool()> done, const char* what, Nanos deadline) {
    return drive_until(done, what, deadline, nullptr);
  }

  // How many threads of the host enqueue works, now and later; 0 (the default) when that is not
  // known. With a number, a rank that nobody can launch any more is found, see host_waits().
  void set_host_threads(int count) { host_threads_.store(count, std::memory_order_release); }

  // Whether nobody can enqueue anything any more, as long as the kernels at the front of `busy`
  // streams stay where they are: every thread of the host waits in synchronise, in vain and without
  // a deadline, and all other streams are idle. The caller knows that those kernels sleep, before
  // and after the call. False where the number of threads is not known.
  bool host_waits(std::size_t busy) const;

  // Calls `watcher` whenever a thread of the host goes to sleep in synchronise, until unwatch_host
  // with the same owner has returned. It must neither block nor wait.
  void watch_host(const void* owner, std::function<void()> watcher);
  void unwatch_host(const void* owner);

  // Ends works that nobody can let go on any more, with kCallMissing: when every thread of the
  // program waits here, in vain and without a deadline, and each stream's front work waits for
  // others of this process. It is looked at when a thread has waited for a tenth of a second
  // without a change. `threads` tells how many threads of the program could enqueue works; -1 where
  // that is not known. Before works are enqueued.
  void end_stalls(std::function<int()> threads) { count_threads_ = std::move(threads); }

  // Says that some pending work may go on. Called after whatever it waits for has come.
  void poke();

  // The same for works that tell by may_go_on: costs a fence unless somebody sleeps.
  void stir() {
    full_fence();
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      poke();
  }

  // Lets other processes wake those who synchronise, or the sweeper, by ringing the door, whose
  // threads sleep at it under wait_key() (ThreadExecutor::use_door). Once, before works are
  // enqueued that wait for other processes. The door is shared with the executor.
  void use_door(std::shared_ptr<const Door> door) {
    kept_door_ = std::move(door);
    door_.store(kept_door_.get(), std::memory_order_release);
  }
  const void* wait_key() const { return &epoch_; }

  // The doorbell whose word has this device address; null for none.
  const Doorbell* find_doorbell(const void* word) const;

  // Ends the waits of every kernel on the machine with this error, now and later.
  void abort(const Error& reason) { abort_.raise(reason, executor_); }
  const AbortFlag& abort_flag() const { return abort_; }

 private:
  friend class Stream;
  friend class KernelWork;
  friend class Doorbell;

  // A thread of the host inside drive_until.
  struct Driver {
    FunctionRef<bool()> done;
    bool has_deadline;
    Stream* stream;  // which it synchronises; null for something else
  };
  // Counts a thread that looks for work among those that sleep, from before its last look on.
  class SleepCounter final : public WaitObserver {
   public:
    explicit SleepCounter(Machine& machine) : machine_(machine) {}
    void on_blocked() override { machine_.sleepers_.fetch_add(1, std::memory_order_seq_cst); }
    void on_resumed() override { machine_.sleepers_.fetch_sub(1, std::memory_order_seq_cst); }

   private:
    Machine& machine_;
  };
  // Shared between the list and the threads that call it at the moment.
  struct Watcher {
    const void* owner;
    std::function<void()> call;
    std::atomic<int> users{0};
  };
  Status check_device(int device) const;
  Status drive_until(FunctionRef<bool()> done, const char* what, Nanos deadline, Stream* stream);
  Status drive(const Driver& driver, const char* what, Nanos deadline);
  void tell_watchers();
  bool all_drive(std::size_t threads) const;
  bool visit_stuck(FunctionRef<void(Work&)> look);
  void end_stall();
  void retire(Stream& stream);
  // Somebody has left a quick work on a stream and may not come back.
  void expect_sweep();
  bool anything_left() const;
  std::uint64_t rung() const {
    const Door* const door = door_.load(std::memory_order_acquire);
    return door == nullptr ? 0 : door->rung.load(std::memory_order_acquire);
  }
  bool may_go_on(const StreamSlot* own, bool helps);
  void add_doorbell(const Doorbell& doorbell);
  void remove_doorbell(const Doorbell& doorbell);
  // Steps all streams; without `helps` not those that other threads synchronise than the one which
  // synchronises `own` (null for none). True when a work has ended.
  bool advance_all(const StreamSlot* own, bool helps);
  bool drivers_have_cores() const {
    return drivers_.load(std::memory_order_relaxed) <= executor_.spare_cores();
  }
  void settle();
  void sweep();
  // A thread that will still touch the machine; its end is the last thing it says.
  void add_runner() { runners_.fetch_add(1, std::memory_order_relaxed); }
  static void end_runner(Machine& machine);

  Executor& executor_;
  Status started_ = ok();
  EventStream& events_;
  Memory memory_;
  RemoteKeys remote_keys_;
  AbortFlag abort_;
  // Counts everything that may let a work go on; drivers wait on it.
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> swept_{0};   // the sweeper waits until this and epoch_ differ
  std::atomic<bool> lingering_{false};    // the sweeper looks by itself again soon
  std::atomic<std::uint64_t> left_{0};    // quick works left to it meanwhile
  std::atomic<std::uint64_t> drives_{0};  // how often somebody has begun to drive
  std::atomic<int> sleepers_{0};
  std::shared_ptr<const Door> kept_door_;  // shared, see use_door
  std::atomic<const Door*> door_{nullptr};
  std::atomic<int> drivers_{0};
  std::atomic<bool> closing_{false};
  std::atomic<int> runners_{0};
  std::atomic<int> next_stream_{0};
  StreamTable streams_;
  std::atomic<int> host_threads_{0};
  std::function<int()> count_threads_;  // see end_stalls
  Guarded<std::vector<const Driver*>> driving_;
  Guarded<std::vector<std::shared_ptr<Watcher>>> watchers_;    // shared, see Watcher
  Guarded<std::map<const void*, const Doorbell*>> doorbells_;  // by the word's address
};

// Enqueues a copy of `bytes`, either side in device or host memory. Device ranges are checked now
// (MEM errors); the two ranges must not overlap partially. Host ranges must live until the copy has
// run.
Status copy(Stream& stream, void* target, const void* source, std::size_t bytes);

// Enqueues the filling of device memory with one byte value.
Status fill(Stream& stream, void* target, std::uint8_t value, std::size_t bytes);

// Enqueues a host function, run on a thread of its own. Its error, or kKernelThrew, sticks to the
// stream.
Status call(Stream& stream, std::function<Status()> function);

}  // namespace commrig::device
