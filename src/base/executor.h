// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/wait.h"

namespace commrig {

enum class AccessKind : std::uint8_t { kLoad, kStore, kAdd, kPut, kGet, kFence };
enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };

// One access of rank code to memory that others can see.
struct Access {
  AccessKind kind = AccessKind::kLoad;
  const void* address = nullptr;
  std::size_t bytes = 0;
  Order order = Order::kRelaxed;
  int rank = -1;
  std::source_location where;
};

// Sees every access before it happens; may switch to another participant.
class AccessHook {
 public:
  virtual ~AccessHook() = default;
  virtual void before(const Access& access) = 0;
};

// A wait for descriptors, as those of sockets.
struct PollSpec {
  // As for poll(2); `revents` are filled in. May be empty: then abort and deadline end the wait.
  std::span<pollfd> descriptors = {};
  const char* what = "";             // static text for people
  const AbortFlag* abort = nullptr;  // ends the wait with the flag's error
  Nanos deadline = kForever;         // of the executor's clock
};

// What a thread is for. A service (a server, a sweeper) sleeps most of the time, has little to do
// when it is woken, and keeps others waiting until it has done it.
enum class Role : std::uint8_t { kUserCode, kService };

// How rank code runs: where its threads, its time and its waits come from. There are two kinds:
// real threads at full speed, and deterministic ones that choose who runs next. All functions may
// be called on any thread of the executor.
class Executor : public Clock {
 public:
  // Runs `body` on a thread of its own; it must not throw. The executor outlives it: whoever
  // spawned it waits for its end through a word of his own. Fails with kSystemCall, and never runs
  // it, when the system gives no thread.
  virtual Status spawn(Role role, std::string name, std::function<void()> body) = 0;

  // Returns when spec.ready() holds; with the flag's error when spec.abort is raised; with
  // kDeadline when the deadline has passed. `ready` is looked at first and last.
  virtual Status wait(const WaitSpec& spec) = 0;

  // Returns when a descriptor is ready; with the flag's error when spec.abort is raised; with
  // kDeadline when the deadline has passed. What is ready counts before the deadline does.
  virtual Status poll(const PollSpec& spec) {
    return Error::make(Code::kSystemCall,
                       std::string("this executor has no descriptors to wait for ") + spec.what);
  }

  // Lets the waits with this key look again. Whatever made them ready must happen before.
  virtual void wake(const void* key) = 0;
  virtual void wake_all() = 0;
  // As wake() for each of the keys; threads that were woken may help with the rest.
  virtual void wake_each(std::span<const void* const> keys) {
    for (const void* const key : keys) wake(key);
  }

  // Marks a stretch of user code (a kernel, a callback) on the calling thread. Waiters give up
  // the core at once while somebody computes.
  virtual void enter_user_code() {}
  virtual void leave_user_code() {}

  // Marks a stretch of the calling thread's user code in which it does a service's work: it counts
  // as one that waits, which will give up the core soon.
  virtual void enter_service() {}
  virtual void leave_service() {}

  // Cores on which no rank computes at the moment; 0 where that means nothing.
  virtual int spare_cores() const { return 0; }

  // Null: accesses are not observed.
  virtual AccessHook* access_hook() { return nullptr; }
};

}  // namespace commrig
