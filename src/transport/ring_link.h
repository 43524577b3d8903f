// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "transport/ending.h"
#include "transport/link.h"
#include "transport/link_memory.h"

namespace commrig::transport {

// How a receiver can read memory of a sender, as bits of Lane::ways.
enum Ways : std::uint32_t {
  kReadsArena = 1,  // device memory, which it has mapped
  kReadsHost = 2,   // any memory
};

// How the two ends of a ring link reach each other's memory. Thread-safe.
class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  // The peer's memory that this end can read, a set of Ways.
  virtual std::uint32_t ways() const = 0;
  // Whether a peer that reads in these ways can read this memory of ours; makes it so where
  // something must be told to the peer before.
  virtual bool offers(const std::byte* data, std::size_t bytes, std::uint32_t ways) = 0;
  // Reads the peer's memory; kPeerAddress when it isn't there, kPeerLost when the peer isn't.
  virtual Status read(std::uint64_t address, std::span<std::byte> target) = 0;
};

struct RingLinkOptions {
  std::string_view kind;
  Ends ends{};
  // Owned together with the other end where both are in one process; else the owner of the mapping.
  std::shared_ptr<LinkMemory> memory{};
  int side = 0;        // 0 or 1
  bool loops = false;  // to itself: the lane that is written is read, too
  // The peer reads our memory in place of this process, so a message that it is copying can't be
  // given back.
  bool peer_reads_in_place = false;
  MemoryAccess& access;
  Waker& waker;       // ours
  Waker& peer_waker;  // calls through to the peer's process
  // Messages of up to so many bytes are copied into the ring, and their sender goes on. Larger ones
  // are offered, so that they are copied once, where the peer can read the memory they lie in.
  std::size_t eager_bytes = 4096;
};

// A link through memory that both ends share. Per direction there is a ring of bytes with one
// writer and one reader. A message is a header followed by its bytes, which pass in pieces when
// they are more than the ring holds; or a header that says where the bytes lie, and the receiver
// copies them from there. All kinds of links but tcp are of this class. As Link; the references
// must outlive both ends.
class RingLink final : public Link {
 public:
  explicit RingLink(const RingLinkOptions& options);
  ~RingLink() override;
  RingLink(const RingLink&) = delete;
  RingLink& operator=(const RingLink&) = delete;

  Result<Progress> send(Outgoing& message) override;
  Result<Progress> recv(Incoming& message) override;
  using Link::abort;
  void abort(int lost_rank) override;
  int lost_rank() const override;
  void lose(const Error& error) override;
  std::string_view kind() const override { return options_.kind; }

 private:
  struct Sender {
    std::uint64_t tail = 0;
    std::uint32_t sequence = 0;
  };
  struct Receiver {
    std::uint64_t head = 0;
    std::uint32_t sequence = 0;
    bool has_header = false;
    RingHeader header{};
  };

  Result<Progress> try_send(Outgoing& message);
  Result<Progress> give_up(const Outgoing& message, const Error& error);
  Result<bool> begin(Outgoing& message);
  Result<Progress> stream_out(Outgoing& message);
  Result<std::size_t> free_bytes();
  void publish_tail();

  Result<Progress> try_recv(Incoming& message);
  Result<bool> take_header(const Incoming& message);
  Result<Progress> take_offer(const Incoming& message);
  Result<Progress> stream_in(Incoming& message);
  Result<std::size_t> ready_bytes();
  void publish_head();
  void refuse(std::uint64_t sent, std::uint64_t expected);

  Error break_off(const Error& error);
  std::optional<Error> ended() const;
  std::optional<Error> peer_gone(std::size_t moved, std::size_t bytes) const;

  RingLinkOptions options_;
  LinkMemory& memory_;
  Lane& out_;
  Lane& in_;
  std::span<std::byte> out_ring_;
  std::span<std::byte> in_ring_;
  Sender sender_;
  Receiver receiver_;
  Ending broken_;  // nothing moves any more
  Ending lost_;    // what has arrived may still be received
};

}  // namespace commrig::transport
