// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "base/events.h"
#include "base/guarded.h"
#include "base/thread_executor.h"
#include "comm/communicator.h"
#include "comm/lobby.h"
#include "commrig/communicator.h"
#include "device/machine.h"

// What the objects of the public interface hold.
namespace commrig::v0 {

// The way into the objects for the functions of this folder.
struct Internals {
  using RuntimeState = Runtime::State;
  using StreamState = Stream::State;
  using CommunicatorState = Communicator::State;

  // Null, if the object was moved from.
  static const std::shared_ptr<RuntimeState>& state(const Runtime& runtime) {
    return runtime.state_;
  }
  static const std::shared_ptr<StreamState>& state(const Stream& stream) { return stream.state_; }

  static Communicator make(std::shared_ptr<CommunicatorState> state) {
    return Communicator(std::move(state));
  }

  // Puts the call on the stream or into the group that `on` names.
  static Status submit(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on,
                       comm::Call call);
  static Status submit(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on,
                       comm::Message message);

 private:
  static Status check(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on);
};

struct Runtime::State {
  explicit State(const RuntimeOptions& options)
      : machine(executor, events,
                {.devices = options.devices, .bytes_per_device = options.bytes_per_device}),
        lobby(executor, machine, bootstrap::process_environment) {
    machine.end_stalls([this] { return executor.outsiders(); });
  }

  ThreadExecutor executor;
  EventStream events;
  device::Machine machine;
  comm::Lobby lobby;
  // Streams that were destroyed with work on them. It may wait for peers, so nobody waits for it
  // then. When the runtime goes, all communicators have gone, and with them what was under way.
  Guarded<std::vector<std::unique_ptr<device::Stream>>> retired;
};

struct Stream::State {
  State(std::shared_ptr<Internals::RuntimeState> owner, std::unique_ptr<device::Stream> made)
      : runtime(std::move(owner)), stream(std::move(made)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<Internals::RuntimeState> runtime;  // shared, see Runtime
  std::unique_ptr<device::Stream> stream;
};

struct Communicator::State {
  std::shared_ptr<Internals::RuntimeState> runtime;  // shared, see Runtime
  std::unique_ptr<comm::Communicator> communicator;
};

// Calls that wait, in the order in which they were made.
struct Group::State {
  struct Entry {
    std::shared_ptr<Internals::CommunicatorState> communicator;  // shared with the user's objects
    std::shared_ptr<Internals::StreamState> stream;
    std::variant<comm::Call, std::vector<comm::Message>> what;
  };
  std::vector<Entry> entries;
};

}  // namespace commrig::v0
