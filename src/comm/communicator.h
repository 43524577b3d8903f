// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/call.h"
#include "comm/endpoint.h"
#include "comm/known_calls.h"
#include "comm/message_run.h"
#include "comm/plan_cache.h"
#include "comm/team_setup.h"
#include "device/machine.h"

namespace commrig::comm {

struct CommunicatorOptions {
  // "all-reduce=ring;broadcast=chain@>1MiB": see coll::Rules.
  coll::Rules rules{};
  // Only algorithms whose bits depend on nothing but the inputs.
  bool strict = false;
  // How ranks of other processes are reached, for create() and what is split from it.
  TeamOptions team{};
  // Tests: as if ranks could not read each other's memory.
  bool messages_only = false;
  // Of each rank's own stream, which split() and barrier() use; rank r takes device r modulo this.
  int devices = 1;
};

// One rank's membership in a group of ranks that communicate. Calls put operations on streams and
// return at once; an operation's error sticks to its stream and is the communicator's. Operations
// of one rank are done in the order of the calls, whatever their streams are. The calls of one
// communicator come from one thread at a time; abort() and error() may come from any.
class Communicator {
 public:
  // The communicators of all ranks, which live in this process; [r] is for rank r. The machine must
  // outlive them. Fails with kRankCount or kSystemCall.
  static Result<std::vector<std::unique_ptr<Communicator>>> create_all(
      device::Machine& machine, int ranks, const CommunicatorOptions& options = {});

  // The communicator of this rank of the exchange, whose ranks may be threads, processes, or both;
  // each of them calls this. It returns when all are there; the exchange isn't needed any more
  // then. The process must outlive it. Fails with the errors of the exchange, kSystemCall,
  // kPeerLost, or kDeadline after options.team.connect_within.
  static Result<std::unique_ptr<Communicator>> create(Process& process,
                                                      bootstrap::Exchange& exchange,
                                                      const CommunicatorOptions& options = {});

  // Leaves, as finalize() but without waiting for peers; operations must have ended, or are
  // aborted.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return endpoint_.rank(); }
  int ranks() const { return endpoint_.ranks(); }

  // Puts the call on the stream. Buffers are checked now: kCollectiveBuffer, kBuffersMeet, errors
  // of device memory, and those of coll::check. Buffers must live until the operation has ended.
  Status enqueue(device::Stream& stream, Call call);

  // The same for messages that are under way together; two ranks may so exchange messages in either
  // order. kNoSuchPeer, kCollectiveBuffer and errors of device memory.
  Status enqueue(device::Stream& stream, std::vector<Message> messages);

  // Returns when every rank has called it, and what it called before has ended.
  Status barrier();

  // Ranks that give the same color become a new communicator, in the order of their keys and then
  // of their old ranks; null for a negative color. All ranks call it; it returns when all have.
  Result<std::unique_ptr<Communicator>> split(int color, int key);

  // Waits until the operations of this rank have ended, and leaves: later calls fail with
  // kCommunicatorState. Peers that wait for this rank in an operation learn it.
  Status finalize();

  // The first error of any rank, if there is one. Never waits.
  Status error() const;

  // Ends all operations of all ranks with an error, now and later. Never waits.
  void abort();

 private:
  Communicator(std::shared_ptr<Team> team, int rank, const CommunicatorOptions& options,
               std::unique_ptr<device::Stream> stream);
  static Result<std::unique_ptr<Communicator>> join(std::shared_ptr<Team> team, int rank,
                                                    const CommunicatorOptions& options);
  class PartExchange;
  Status gather_bytes(const void* mine, void* all, std::size_t bytes);
  Result<std::shared_ptr<Team>> team_of_part(const std::vector<int>& members, bool member);
  Status check_usable() const;
  // Finds what is wrong with a call, and how it is done.
  Result<std::shared_ptr<const KnownPlan>> plan_of(const Call& call);
  Result<bool> check_buffers(const Call& call, const coll::Request& request) const;
  void leave();

  CommunicatorOptions options_;
  Endpoint endpoint_;
  PlanCache plans_;
  KnownCalls known_calls_;
  std::unique_ptr<device::Stream> stream_;  // for calls that wait
  bool left_ = false;
};

}  // namespace commrig::comm
