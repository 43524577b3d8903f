// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "base/descriptor.h"
#include "base/executor.h"
#include "base/guarded.h"

namespace commrig::transport {

// Told when a descriptor is ready, on the poller's thread. Must neither block nor wait, nor add or
// remove; may arm.
class PollHandler {
 public:
  virtual ~PollHandler() = default;
  // `events` of epoll_ctl(2). Now and then without a reason.
  virtual void on_ready(std::uint32_t events) = 0;
};

// The service thread of a process that watches sockets and processes. It sleeps until a descriptor
// that somebody has armed becomes ready, and tells each arming once: a socket whose data nobody
// waits for costs nothing. Thread-safe.
class Poller {
 public:
  // The executor must outlive the poller.
  static Result<std::unique_ptr<Poller>> start(Executor& executor);
  // Ends the thread and waits for it. Handlers must have been removed.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // The descriptor must stay open until it is removed. Nothing is armed.
  Status add(int descriptor, PollHandler& handler);
  // Lets the handler be told once when one of the events has come, now or later.
  void arm(int descriptor, std::uint32_t events);
  // When it returns, the handler is not being told and won't be any more. Not while holding a lock
  // that a handler or its waker takes.
  void remove(int descriptor);

 private:
  Poller(Executor& executor, Descriptor epoll, Descriptor bell)
      : executor_(executor), epoll_(std::move(epoll)), bell_(std::move(bell)) {}
  void run();
  void tell(int descriptor, std::uint32_t events);

  Executor& executor_;
  Descriptor epoll_;
  Descriptor bell_;  // an eventfd that ends the thread
  std::atomic<bool> closing_{false};
  std::atomic<bool> ended_{false};
  bool started_ = false;
  Guarded<std::map<int, PollHandler*>> handlers_;
};

}  // namespace commrig::transport
