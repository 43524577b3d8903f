// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>

#include "base/socket.h"
#include "base/thread_executor.h"
#include "bootstrap/unique_id.h"

namespace commrig::integration {

// A child process of a test: gets a unique id, runs a body, says one text at its end and exits as
// programs do, so that sanitizers have their say. Forked while the parent has no threads.
class ChildProcess {
 public:
  // `say` sends a text before the body ends.
  struct Context {
    ThreadExecutor& executor;
    bootstrap::UniqueId id;
    std::function<void(const std::string&)> say;
  };
  using Body = std::function<std::string(Context&)>;

  explicit ChildProcess(const Body& body);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept
      : process_(std::exchange(other.process_, -1)), line_(std::move(other.line_)) {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;

  void start(ThreadExecutor& executor, const bootstrap::UniqueId& id) const;
  // The next text; empty when the child has ended without one.
  std::string hear(ThreadExecutor& executor) const;
  // The last text, once the child has exited; how it did so is added unless it was with 0.
  std::string finish(ThreadExecutor& executor) const;
  void kill() const;
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
  Socket line_;
};

}  // namespace commrig::integration
