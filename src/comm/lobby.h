// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/abort.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "bootstrap/launch.h"
#include "bootstrap/root.h"
#include "bootstrap/unique_id.h"
#include "comm/communicator.h"
#include "comm/process.h"

namespace commrig::comm {

struct IdOptions {
  // Where the root listens; by default on a free port of the interface that the environment names
  // (NCCL_SOCKET_IFNAME), or else of the first one that fits.
  std::optional<Address> listen{};
  // From the first rank that has come to the last; then all fail with kRankAbsent.
  Nanos ranks_within = kForever;
};

struct JoinOptions {
  CommunicatorOptions communicator{};  // but for team.listen, which the lobby chooses
  const AbortFlag* abort = nullptr;    // ends the call with its error
  // Until the root's address answers; kRootLost then. Where the address comes from a launcher, its
  // rank may start later than this one.
  Nanos root_within = std::chrono::seconds(120);
};

// Where the ranks of one process find those of others: makes unique ids, and joins communicators
// whose ranks are threads, processes, or both. Several ranks of this process may join at once, each
// on a thread of its own.
//
// Takes nothing until it is used; then it makes the Process of its machine. Thread-safe. Executor
// and machine must outlive it, and it outlives the communicators that it has joined.
class Lobby {
 public:
  using Variables = std::function<std::optional<std::string>(std::string_view name)>;

  // `environment` is read when it is needed, and must be thread-safe.
  Lobby(ThreadExecutor& executor, device::Machine& machine, Variables environment);
  ~Lobby();
  Lobby(const Lobby&) = delete;
  Lobby& operator=(const Lobby&) = delete;

  // An id for one communicator. Its root listens in this process until all ranks have joined, or
  // the lobby goes: ranks that join then fail with kRootLost. Fails with kNoInterface, kBadArgument
  // (NCCL_SOCKET_IFNAME or NCCL_SOCKET_FAMILY) or kSystemCall.
  Result<bootstrap::UniqueId> make_id(const IdOptions& options = {});

  // Rank `rank` of a new communicator; returns when all `ranks` ranks have called it, here or
  // elsewhere. Fails with the errors of bootstrap::join_ring and of Communicator::create. The root
  // of an id that is_known_root() is opened by rank 0, on all addresses of its host; one such
  // communicator after the other.
  Result<std::unique_ptr<Communicator>> join(const bootstrap::UniqueId& id, int rank, int ranks,
                                             const JoinOptions& options = {});

  // The communicator of all ranks that the launcher has started; once more, and it is another one
  // of the same ranks. One rank a process, which calls this on one thread at a time. Ranks meet by
  // the id that the launcher gives, which serves once, or else where it says that rank 0 is:
  // kLaunchEnvironment where it does neither, and there is more than one.
  Result<std::unique_ptr<Communicator>> join(const bootstrap::Launch& launch,
                                             const JoinOptions& options = {});

  // The same for what the environment says; without a launcher, one rank that is alone.
  Result<std::unique_ptr<Communicator>> join_world(const JoinOptions& options = {});

  // For communicators that are made without the lobby; made by the first call.
  Result<Process*> process();

 private:
  struct Settled {
    std::unique_ptr<Process> process;
    Address listen;  // of the interface, port 0
  };
  using Roots = std::map<std::uint64_t, std::unique_ptr<bootstrap::Root>>;  // by magic

  Result<Settled*> settle();
  Result<bootstrap::UniqueId> open_root(const bootstrap::RootOptions& options);
  Status open_meeting(const bootstrap::UniqueId& id, const JoinOptions& options);
  Result<std::unique_ptr<Communicator>> enter(const bootstrap::UniqueId& id, int rank, int ranks,
                                              Refused refused, const JoinOptions& options);
  void leave_port(std::uint16_t port);
  Status close_root(const bootstrap::UniqueId& id, const JoinOptions& options);

  ThreadExecutor& executor_;
  device::Machine& machine_;
  Variables environment_;
  Guarded<Settled> settled_;  // never changes once it is there
  Guarded<Roots> roots_;
  std::atomic<std::uint64_t> worlds_{0};
};

}  // namespace commrig::comm
