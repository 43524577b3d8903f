// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/abort.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/socket.h"
#include "comm/board.h"
#include "comm/neighbour.h"
#include "comm/process.h"
#include "device/machine.h"
#include "transport/link.h"
#include "transport/peers.h"
#include "transport/segment.h"

namespace commrig::comm {

// The ranks of one communicator, as those of this process see them: everybody's board and slots,
// the links, and the error that ends them all. Shared by the communicators of the local ranks; the
// last one to be destroyed takes it along. Thread-safe, once it is complete.
class Team {
 public:
  // Of ranks that all live in this process. The machine must outlive the team.
  static Result<std::shared_ptr<Team>> create_local(device::Machine& machine, int ranks);

  // An incomplete one, for `locals` of the ranks. The process must outlive the team.
  static Result<std::shared_ptr<Team>> create(Process& process, int ranks, std::vector<int> locals);
  // Completes it: ranks of another process of this host, and their memory.
  Status add(std::unique_ptr<Neighbour> neighbour);
  // A connection from a local rank to one that shares no memory with it.
  void add(int rank, int peer, Socket socket);

  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int ranks() const { return static_cast<int>(boards_.size()); }
  bool is_local(int rank) const { return local_[static_cast<std::size_t>(rank)]; }
  bool all_local() const { return locals_.size() == boards_.size(); }
  device::Machine& machine() { return machine_; }
  Process* process() { return process_; }  // null: all ranks are local
  const transport::Segment& segment() const { return segment_; }

  // Null for a rank that shares no memory with this process.
  Board* find_board(int rank) { return boards_[static_cast<std::size_t>(rank)]; }
  Board& board(int rank) { return *boards_[static_cast<std::size_t>(rank)]; }
  const Board& board(int rank) const { return *boards_[static_cast<std::size_t>(rank)]; }
  // Scratch of kSlotBytes.
  std::byte* slot(int rank, std::size_t parity) {
    return slots_[static_cast<std::size_t>(rank)] + parity * kSlotBytes;
  }
  // What the rank has counted of its messages with the peer; of a rank that has a board here.
  Mail& mail(int rank, int peer) {
    return mail_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(peer)];
  }
  // Before a local rank waits for a message: from now on, all ranks look out for circles of waits.
  void look_for_circles(int rank);
  // Whether all ranks read and write each other's memory.
  bool shares_memory() const { return shares_memory_; }
  // Whether that holds for device memory only, so that other buffers must be staged.
  bool needs_device_memory() const { return process_ != nullptr && !neighbours_.empty(); }

  // Where a peer's buffer lies here, by the address that it has posted.
  Result<std::byte*> peer_buffer(int rank, std::uint64_t address, std::size_t bytes);
  // Before addresses of device memory are posted.
  Status share_memory();

  // The rank's end of the way to a peer, made when it is first asked for; null while the peer has
  // not made its end yet.
  Result<transport::Link*> link(int rank, int peer);

  // The same on all its ranks, and on those of no other that this process has.
  std::uint64_t number() const { return number_; }
  void set_number(std::uint64_t number) { number_ = number; }

  // The team of `ranks` local ranks that this one is split into, by a number that all of them know.
  Result<std::shared_ptr<Team>> child(std::uint64_t number, int ranks);

  // Ends every operation of the communicator, now and later, with this error; the first one stays.
  // Never waits.
  void fail(const Error& error);
  // Whether that rank has failed and said why, whoever has seen its process end since; and its
  // error.
  bool has_failed(int rank) const;
  Error failure_of(int rank) const;
  const AbortFlag& abort() const { return abort_; }
  // The error of a rank of another process that shares memory with this one, if one has failed.
  std::optional<Error> failure_elsewhere() const;
  // Whether the rank is known to do nothing any more. What it has sent before is there then.
  bool is_gone(int rank) const;

  // After a flag was written: lets those go on that wait for it.
  void stir() {
    machine_.stir();  // with a fence
    for (const auto& neighbour : neighbours_) neighbour->ring_if_asleep();
  }

 private:
  using Pair = std::pair<int, int>;
  class MachineWaker final : public transport::Waker {
   public:
    explicit MachineWaker(device::Machine& machine) : machine_(machine) {}
    void wake() override { machine_.poke(); }

   private:
    device::Machine& machine_;
  };
  struct Links {
    std::map<Pair, std::unique_ptr<transport::Link>> made;     // by rank and peer
    std::map<Pair, std::unique_ptr<transport::Link>> waiting;  // second ends, not yet asked for
    std::map<Pair, Socket> sockets;
    std::map<Pair, bool> given;  // segments that this process has made for a link
  };
  struct Child {
    std::shared_ptr<Team> team;  // until all its ranks have it
    int taken = 0;
  };

  Team(device::Machine& machine, Process* process, int ranks, std::vector<int> locals);
  Status map_local(transport::Segment segment);
  void map(std::byte* base, std::span<const int> ranks, bool fresh);
  Result<std::unique_ptr<transport::Link>> connect(Links& links, int rank, int peer);
  Result<std::unique_ptr<transport::Link>> connect_near(int rank, int peer, Neighbour& neighbour);
  int lost_rank(const Links& links) const;
  void lose(Neighbour& neighbour, const Error& error);
  Neighbour* neighbour_of(int rank) { return neighbour_of_[static_cast<std::size_t>(rank)]; }

  device::Machine& machine_;
  Process* process_;
  std::uint64_t number_ = 0;
  MachineWaker waker_;
  std::vector<int> locals_;
  std::vector<bool> local_;
  transport::Segment segment_;  // of the local ranks
  std::vector<Board*> boards_;
  std::vector<std::byte*> slots_;
  std::vector<Mail*> mail_;
  std::vector<Neighbour*> neighbour_of_;
  bool shares_memory_ = false;
  AbortFlag abort_;
  std::atomic<int> first_lost_{transport::Link::kNobody};
  Guarded<std::map<std::uint64_t, Child>> children_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_;
  Guarded<Links> links_;  // use the neighbours
  std::unique_ptr<transport::Peers> peers_;
};

}  // namespace commrig::comm
