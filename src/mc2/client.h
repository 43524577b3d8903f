// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/doorbell.h"
#include "device/kernel.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"
#include "mc2/context.h"
#include "mc2/layout.h"
#include "mc2/message.h"
#include "mc2/side_message.h"
#include "mc2/window_record.h"
#include "mc2/workspace.h"

namespace commrig::mc2 {

// A prepared operation, counted from 0 in the order of preparation.
using Handle = std::uint32_t;

// What all prepare calls have in common. Buffers are device addresses; counts and strides are in
// elements; turn i of `repeat` moves both buffers on by i x count.
struct Transfer {
  const void* send = nullptr;
  void* recv = nullptr;
  std::uint64_t count = 0;  // per rank, see the calls
  dtype::Dtype dtype = dtype::Dtype::kFp32;
  std::uint64_t stride = 0;  // from one rank's block to the next; 0: packed (count x repeat)
  std::uint32_t repeat = 1;  // turns, 1 to 255
};

// The kernel's side of the protocol: prepares messages, commits turns, waits for them. One client
// belongs to one block of one kernel (the working one of its rank). Every call returns an error
// instead of waiting for something that can't come; waits end when the group is aborted.
class Client {
 public:
  // Kernel context and layout must outlive the client.
  Client(device::KernelContext& kernel, const Layout& layout) : kernel_(kernel), layout_(layout) {}

  // Reads the context at this device address. Fails with kClientState the second time, kBadContext
  // or kWorkspaceTooSmall for a context that can't be right, MEM errors for memory that isn't.
  Status init(const void* context);

  // Each rank's `count` elements of `send` are combined element by element in the order of the
  // ranks; every rank's `recv` gets the whole result. In place: send == recv.
  Result<Handle> all_reduce(const Transfer& transfer, dtype::ReduceOp op);
  // Each rank gives `count` elements; block r of every `recv` (at r x stride) gets rank r's.
  // In place: send == recv + rank x stride.
  Result<Handle> all_gather(const Transfer& transfer);
  // Each rank gets `count` elements: the combined blocks at rank x stride of every `send`.
  // In place: recv == send + rank x stride.
  Result<Handle> reduce_scatter(const Transfer& transfer, dtype::ReduceOp op);
  // Block r of `send` (`count` elements at r x stride) goes to rank r, into its block of ours.
  Result<Handle> all_to_all(const Transfer& transfer);
  // As all_to_all with a count and an offset for each pair of ranks; `count` and `stride` of the
  // transfer are not used. Turn i moves the offsets on by i x the counts.
  Result<Handle> all_to_all_v(const Transfer& transfer, const SideMessage& table);

  // Lets the next turn of the handle run. Fails with kCommitAboveRepeat when all were committed.
  Status commit(Handle handle);
  // Waits for the next turn of the handle that was not waited for yet: the k-th wait is for turn k.
  // Fails with kWaitAboveCommit when that turn was not committed.
  Status wait(Handle handle);
  // How many turns of the handle are done. Never waits.
  Result<std::uint64_t> query(Handle handle);
  // Waits for every handle, tells the server that it was the last message, waits for its answer and
  // clears the counters. Nothing may be called afterwards. Fails with kClientState when a turn was
  // prepared but not committed.
  Status finalize();

  std::uint32_t rank() const { return context_.rank; }
  std::uint32_t ranks() const { return context_.ranks; }
  // Device addresses of a rank's windows (rank < ranks()), each window_bytes() long.
  std::uint64_t window_in(std::uint32_t rank) const { return windows_.at(rank).remote_in.address; }
  std::uint64_t window_out(std::uint32_t rank) const {
    return windows_.at(rank).remote_out.address;
  }
  // The same with size and key; the keys are 0 where the context has no records.
  const WindowRecord& windows(std::uint32_t rank) const { return windows_.at(rank); }
  std::uint64_t window_bytes() const { return context_.window_bytes; }

 private:
  enum class State : std::uint8_t { kNew, kReady, kFinalized };
  struct Prepared {
    std::uint32_t slot;
    std::uint32_t repeat;
    std::uint64_t committed = 0;
    std::uint64_t waited = 0;
  };

  Result<Handle> prepare(Command command, std::optional<dtype::ReduceOp> op,
                         const Transfer& transfer, const SideMessage* table);
  Status check_transfer(Command command, const Transfer& transfer) const;
  Result<std::uint32_t> submit(const Message& message, const SideMessage* table);
  Result<Prepared*> find(Handle handle);
  Status publish_commit(std::uint32_t slot, std::uint64_t total);
  Status await_finished(std::uint32_t slot, Compare compare, std::uint64_t value, const char* what);
  Status read_windows();
  Status check_windows() const;
  Status ring();

  device::KernelContext& kernel_;
  const Layout& layout_;
  State state_ = State::kNew;
  ContextView context_;
  std::vector<WindowRecord> windows_;  // one a rank
  std::optional<Workspace> workspace_;
  device::Window bell_;                         // empty: the context names none
  const device::Doorbell* doorbell_ = nullptr;  // null: the bell has no engine of ours
  std::vector<Prepared> prepared_;
  std::uint32_t next_slot_ = 0;
  std::uint8_t sequence_ = 0;
};

}  // namespace commrig::mc2
