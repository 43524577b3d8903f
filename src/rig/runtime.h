// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_executor.h"
#include "comm/lobby.h"
#include "device/machine.h"
#include "rig/export.h"

namespace commrig::rig {

// The simulated devices of the process, for interfaces that know nothing of such an object: made by
// the first call that needs them, and kept until the process ends, because calls may still come
// from destructors then.
class Runtime {
 public:
  explicit Runtime(int devices);

  ThreadExecutor& executor() { return executor_; }
  device::Machine& machine() { return machine_; }
  comm::Lobby& lobby() { return lobby_; }

 private:
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  comm::Lobby lobby_;
};

// Fails with kBadArgument for a COMMRIG_DEVICES that is no number, kSystemCall when it could not be
// started, and kForked in a child that has inherited it. All functions here are thread-safe.
Result<Runtime*> runtime();

// The number of simulated devices: COMMRIG_DEVICES (1 to 1024), else 8, or the number of ranks on
// this host by the launcher's variables where that is more.
COMMRIG_RIG Result<int> device_count();

// kBadDevice for a number that no device has.
COMMRIG_RIG Status check_device(int device);

// Whether the devices of this process are not those of the other processes of its host: where it
// sees fewer than the host has ranks by the launcher's variables, or CUDA_VISIBLE_DEVICES is set.
bool devices_are_own(int devices);

// The device of the calling thread's calls: 0 at first. Setting fails with kBadDevice.
COMMRIG_RIG int current_device();
COMMRIG_RIG Status set_current_device(int device);

// Writes the error to standard error as a line of commrig.
COMMRIG_RIG void report(const Error& error);

// kInCallback on a thread that is inside a host function of a stream.
COMMRIG_RIG Status check_not_in_callback();

// Marks the thread as one that runs a host function, as long as it lives.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
};

// Runs each body on a thread of its own, a single one on the caller's, and returns when all have
// ended. A body for which the system gives no thread is not run: kSystemCall.
COMMRIG_RIG Status run_together(const std::vector<std::function<void()>>& bodies);

// Runs the body on a thread of its own.
COMMRIG_RIG Status spawn(const std::string& name, std::function<void()> body);

// Waits until the condition holds, and lets the streams of the process go on meanwhile.
COMMRIG_RIG Status wait_until(FunctionRef<bool()> condition, const char* what);

// To be called after something that wait_until() may wait for.
COMMRIG_RIG void poke();

}  // namespace commrig::rig
