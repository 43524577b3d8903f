// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commrig/group.h"
#include "commrig/memory.h"
#include "commrig/types.h"
#include "commrig/unique_id.h"

namespace commrig::v0 {

struct CommunicatorOptions {
  // Which algorithms are taken, by collective and size in bytes, such as
  // "all-reduce=ring@>1MiB;broadcast=chain"; `commrig plan list` prints the names. What no rule
  // names is chosen by a model of its cost.
  std::string algorithms;
  // Only algorithms whose bits depend on nothing but the inputs: folded in the order of ranks,
  // and rounded once.
  bool strict = false;
  // As if ranks could not read each other's memory.
  bool messages_only = false;
  // As if each process had a host of its own: their ranks reach each other through TCP.
  bool tcp_between_processes = false;
};

// What a collective reads and writes, in device or host memory, both the caller's. They must
// live, the input unchanged and the output untouched, until the call has been done. They may be
// one: either the same address, or, where one of them holds a block for each rank, the other is
// the rank's own block in it. Any other overlap is an error. A buffer that the rank has no use
// for (the output of others than the root) may be null.
struct Buffers {
  const void* input = nullptr;
  void* output = nullptr;
};

// One rank's membership in a group of ranks that communicate.
//
// Calls put an operation on a stream and return at once; Stream::synchronize() waits for it. All
// ranks make the same collective calls in the same order, with the same count, type, op and root;
// a rank that does not is named in an error (CR-COL18) that all ranks get. Operations of one rank
// are done in the order of the calls, on whatever streams they are.
//
// Counts are in elements. Errors of a call itself come back at once, and nothing was put on the
// stream: CR-COL20 (a null buffer), CR-COL21 (an overlap), CR-COL03 (the root), CR-COL04
// (counts), CR-COL05 (more bytes than a size_t counts), CR-COL22 (no such peer), CR-COL23
// (finalized), CR-COL08 (the algorithm of a rule can't do it), CR-DTY01 and CR-DTY03 (a number
// that is no type or op), CR-DTY02 (the type can't be reduced), CR-RUN09 (a moved-from object),
// MEM errors of device memory, and the communicator's own error once it has one. Errors of an
// operation stick to its stream, and to the communicator.
//
// The calls of one communicator come from one thread at a time; abort() and error() from any.
class COMMRIG_API Communicator {
 public:
  // All ranks of a new communicator, which live in this process: [r] is rank r, and may be handed
  // to a thread of its own, or not. 1 to 65,536 ranks; CR-COL02 otherwise. CR-COL07, CR-COL01 or
  // CR-COL06 if `algorithms` has a mistake, CR-RUN05 if the system gives no memory or thread.
  static Result<std::vector<Communicator>> create_all(
      Runtime& runtime, int ranks, const CommunicatorOptions& options = CommunicatorOptions());

  // Rank `rank` of a new communicator, whose ranks are threads of this process, other processes of
  // this host or of others, in any mix. Each of its `ranks` ranks calls this with the same id and
  // options, threads of one process at the same time; it returns when all have. The first error of
  // one rank is that of all: CR-RUN04 (no such rank), BOOT errors of an id and of ranks that are
  // missing, come twice or are lost, CR-NET01, CR-RUN05, and those of `algorithms`.
  static Result<Communicator> create(Runtime& runtime, const UniqueId& id, int rank, int ranks,
                                     const CommunicatorOptions& options = CommunicatorOptions());

  // The communicator of all ranks that a launcher has started, each of which calls this, on one
  // thread: `commrig run`, torchrun, mpirun (Open MPI or PMI) or srun, by the variables that they
  // set. Where there is no launcher, that of one rank. Ranks that are not there after two minutes
  // are named in CR-BOOT07 or CR-BOOT09; CR-BOOT04 for variables that contradict each other or do
  // not say where the ranks meet. It may be called again, for another communicator of all.
  static Result<Communicator> world(Runtime& runtime,
                                    const CommunicatorOptions& options = CommunicatorOptions());

  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  // Leaves, as finalize() does; operations that are under way are aborted.
  ~Communicator();

  // -1 and 0 after the communicator was moved from.
  int rank() const;
  int size() const;  // the number of ranks

  // Every output: `count` elements, those of all inputs combined. All ranks get the same bits.
  Status all_reduce(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, ReduceOp op);
  // The same for the output of the root alone.
  Status reduce(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, ReduceOp op,
                int root);
  // Every output: the `count` elements of the root's input. Others have no input.
  Status broadcast(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, int root);
  // Every output: the inputs of all ranks, `count` elements each, in the order of ranks.
  Status all_gather(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype);
  // Inputs have size() blocks of `count` elements; the output of rank r is block r, combined.
  Status reduce_scatter(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, ReduceOp op);
  // Inputs and outputs have size() blocks of `count`; block r of a rank's input goes to rank r,
  // and what rank s sends lies in block s of the output.
  Status all_to_all(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype);
  // The root's output: the inputs of all ranks, `count` elements each, in the order of ranks.
  Status gather(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, int root);
  // The root's input has size() blocks of `count`; the output of rank r is block r.
  Status scatter(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype, int root);

  // The same with blocks of different sizes: counts[r] elements is the block of rank r, 0
  // allowed. Blocks lie in the order of ranks without gaps. All ranks give the same counts.
  Status all_gather_v(StreamRef on, Buffers buffers, const std::vector<std::size_t>& counts,
                      Dtype dtype);
  Status reduce_scatter_v(StreamRef on, Buffers buffers, const std::vector<std::size_t>& counts,
                          Dtype dtype, ReduceOp op);
  Status gather_v(StreamRef on, Buffers buffers, const std::vector<std::size_t>& counts,
                  Dtype dtype, int root);
  Status scatter_v(StreamRef on, Buffers buffers, const std::vector<std::size_t>& counts,
                   Dtype dtype, int root);
  // counts[s * size() + r] elements go from rank s to rank r.
  Status all_to_all_v(StreamRef on, Buffers buffers, const std::vector<std::size_t>& counts,
                      Dtype dtype);

  // A message of `count` elements to or from a peer, which may be this rank itself. Messages
  // between two ranks arrive in order, and a receipt must be as long as its message (CR-NET02).
  // Sending may wait for the receipt: messages that cross belong in a Group.
  Status send(StreamRef on, const void* data, std::size_t count, Dtype dtype, int peer);
  Status recv(StreamRef on, void* data, std::size_t count, Dtype dtype, int peer);

  // Waits until every rank has called it, and what this rank called before has ended.
  Status barrier();

  // Makes a communicator of all ranks that give the same color, in the order of their keys and
  // then of their ranks; nothing for a negative color. Waits until every rank has called it.
  Result<std::optional<Communicator>> split(int color, int key);

  // Waits until the operations of this rank have ended, and leaves: later calls fail with
  // CR-COL23. A rank that waits for this one in an operation gets CR-COL19.
  Status finalize();

  // The first error of any rank, if there is one. Never waits.
  Status error() const;

  // Ends all operations of all ranks with CR-RUN02, now and later. Never waits.
  void abort();

 private:
  friend struct Internals;
  struct COMMRIG_LOCAL State;
  COMMRIG_LOCAL explicit Communicator(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // shared with groups that hold calls for it
};

}  // namespace commrig::v0
