// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/abort.h"
#include "base/guarded.h"
#include "base/result.h"
#include "comm/board.h"
#include "device/machine.h"
#include "transport/link.h"

namespace commrig::comm {

// What makes the link from one rank to another; the other end is made by the same call with the
// ranks swapped, in whatever process that rank is.
class LinkSource {
 public:
  virtual ~LinkSource() = default;
  virtual Result<std::unique_ptr<transport::Link>> connect(int rank, int peer) = 0;
  // One for a team that is split from this source's.
  virtual std::unique_ptr<LinkSource> split() const = 0;
};

// Links between ranks of one process, which wake its machine.
std::unique_ptr<LinkSource> make_thread_links(device::Machine& machine);

// The ranks of one communicator, as the ranks of this process see them: everybody's board and
// slots, the links, and the error that ends them all. Shared by the communicators of the local
// ranks; the last one to be destroyed takes it along. Thread-safe.
class Team {
 public:
  // All ranks live in this process. The machine must outlive the team.
  static Result<std::shared_ptr<Team>> create(device::Machine& machine, int ranks,
                                              std::unique_ptr<LinkSource> links);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int ranks() const { return static_cast<int>(boards_.size()); }
  device::Machine& machine() { return machine_; }

  Board& board(int rank) { return *boards_[static_cast<std::size_t>(rank)]; }
  // Scratch of kSlotBytes.
  std::byte* slot(int rank, std::size_t parity) {
    return slots_[static_cast<std::size_t>(rank)] + parity * kSlotBytes;
  }
  // Where the peer's buffers of its operation of this parity lie here, once it has reached phase 1.
  std::byte* peer_input(int rank, std::size_t parity) {
    return pointer(board(rank).calls[parity].input);
  }
  std::byte* peer_output(int rank, std::size_t parity) {
    return pointer(board(rank).calls[parity].output);
  }
  // Whether the ranks read and write each other's memory.
  bool shares_memory() const { return true; }

  // The rank's end of the way to a peer, made when it is first asked for.
  Result<transport::Link*> link(int rank, int peer);

  // The team of `ranks` ranks that this one is split into, by a number that all of them know; the
  // first one of this process to ask makes it, and the last takes it away from here.
  Result<std::shared_ptr<Team>> child(std::uint64_t number, int ranks);

  // Ends every operation of the communicator, now and later, with this error; the first one stays.
  // Never waits.
  void fail(const Error& error);
  const AbortFlag& abort() const { return abort_; }

  // After this process has written a flag: lets those go on that wait for it.
  void stir() { machine_.stir(); }

 private:
  Team(device::Machine& machine, int ranks, std::unique_ptr<LinkSource> links);
  static std::byte* pointer(const std::atomic<std::uint64_t>& address) {
    return reinterpret_cast<std::byte*>(address.load(std::memory_order_relaxed));
  }

  device::Machine& machine_;
  std::byte* segment_ = nullptr;
  std::size_t segment_bytes_ = 0;
  std::vector<Board*> boards_;
  std::vector<std::byte*> slots_;
  std::unique_ptr<LinkSource> source_;
  // By rank, then by peer; a rank's row is made when it first sends a message.
  Guarded<std::vector<std::vector<std::unique_ptr<transport::Link>>>> links_;
  struct Child {
    std::shared_ptr<Team> team;  // until all its ranks have it
    int taken = 0;
  };
  Guarded<std::map<std::uint64_t, Child>> children_;
  AbortFlag abort_;
};

}  // namespace commrig::comm
