// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/door.h"
#include "base/guarded.h"
#include "base/socket.h"
#include "device/memory.h"
#include "transport/channel.h"
#include "transport/ring_link.h"
#include "transport/segment.h"

namespace commrig::transport {

// What a segment that is handed over is for; both processes compute the same.
using Tag = std::pair<std::uint64_t, std::uint64_t>;

struct PeerMemoryOptions {
  // A rank of the peer, for messages.
  int rank = 0;
  // A connected unix socket: of Listener::open_unix, or one of a pair.
  Socket socket{};
  // What the peer may map; null: nothing.
  const device::Memory* memory = nullptr;
  // Holds this process's Door, from its first byte on; null: it has none.
  const Segment* door = nullptr;
  // Each way to the peer's memory can be turned off, so that the others are tried.
  bool maps_arenas = true;
  bool reads_host = true;
};

// The memory of another process of this host, as this one sees it: segments of its device memory
// that it shares, mapped here; its host memory where the system lets us read it
// (process_vm_readv(2)); segments that were made for both. Each process has one for each of the
// others; neither waits for the other at any time.
//
// What a process shares is sent before anybody can learn an address in it, so that its peers find
// it in the socket when they meet such an address. Thread-safe. Everything is unmapped by the
// destructor; links that use it must have ended.
class PeerMemory final : public MemoryAccess {
 public:
  // Tells the peer what this process shares now.
  static Result<std::unique_ptr<PeerMemory>> create(PeerMemoryOptions options);
  ~PeerMemory() override = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Reads what the peer has told; true once it has told who it is. What it tells later is read when
  // it is needed.
  Result<bool> meet();

  // Shares segments of device memory that are new. Called before an address in them is told to the
  // peer by other ways than a link; costs two loads when there are none.
  Status share_new();

  // Where this process sees `bytes` at the peer's device address. Fails with kPeerAddress.
  Result<std::byte*> translate(std::uint64_t address, std::size_t bytes);

  // Hands a segment over, and takes what the peer has handed over; nothing while it has not come.
  Status give(const Tag& tag, const Segment& segment);
  Result<std::optional<Segment>> take(const Tag& tag);

  // MemoryAccess, for links.
  std::uint32_t ways() const override;
  bool offers(const std::byte* data, std::size_t bytes, std::uint32_t ways) override;
  Status read(std::uint64_t address, std::span<std::byte> target) override;

  // After meet() has said true: 0 when the peer's numbers mean nothing here, null without a door.
  pid_t process() const { return process_.load(std::memory_order_acquire); }
  Door* door() const { return door_.load(std::memory_order_acquire); }
  // Rings the door.
  Waker& waker() { return waker_; }
  // Readable at its end when the peer has ended.
  int socket() const { return socket_; }
  int rank() const { return rank_; }

 private:
  struct Mapped {
    std::uint64_t base;
    std::uint64_t number;
    Segment segment;
  };
  struct State {
    explicit State(Socket socket) : channel(std::move(socket)) {}
    Channel channel;
    std::size_t shared = 0;  // segments of ours that the peer was told of
    std::vector<Mapped> mapped;
    std::map<Tag, Segment> gifts;
    Segment door;
    bool met = false;
  };
  class PeerWaker final : public Waker {
   public:
    explicit PeerWaker(const PeerMemory& peer) : peer_(peer) {}
    void wake() override;

   private:
    const PeerMemory& peer_;
  };

  explicit PeerMemory(PeerMemoryOptions options);
  Status greet(State& state);
  Status share(State& state);
  Status read_notes(State& state);
  Status take_hello(State& state, Received received);
  Status take_segment(State& state, Received received);
  bool probe(pid_t process, const Note& hello) const;
  Result<std::byte*> find(const State& state, std::uint64_t address, std::size_t bytes) const;
  Error unknown(const State& state, std::uint64_t address, std::size_t bytes) const;
  Error with_rank(const Error& error) const;

  int rank_;
  int socket_;
  const device::Memory* memory_;
  const Segment* own_door_;
  bool maps_arenas_;
  bool reads_host_;
  // A word of this process that the peer tries to read, to know whether it may.
  std::unique_ptr<std::uint64_t> probe_word_;
  std::atomic<pid_t> process_{0};
  std::atomic<bool> host_readable_{false};
  std::atomic<std::size_t> shared_{0};  // as State::shared
  std::atomic<Door*> door_{nullptr};
  PeerWaker waker_{*this};
  Guarded<std::unique_ptr<State>> state_;
};

// Lets the processes of this user read the memory of this one, where the system restricts that to
// parents (Yama). False when it refuses.
bool allow_readers();

}  // namespace commrig::transport
