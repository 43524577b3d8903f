// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/socket.h"

namespace commrig::transport {

// What two processes of a host tell each other beside the links, 64 bytes with at most one
// descriptor.
struct Note {
  static constexpr std::uint32_t kMagic = 0x31746F4EU;  // "Not1", and so its version

  enum Kind : std::uint32_t {
    kHello = 1,    // number: the sender's pid; address: of a word of its; tag[0]: what stands there
    kSegment = 2,  // number: of the segment; address: where the sender has it; the descriptor
    kGift = 3,     // tag: what the segment is for; the descriptor
  };

  std::uint32_t magic = kMagic;
  Kind kind = kHello;
  std::uint64_t number = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t tag[2] = {0, 0};
  std::uint64_t unused[2] = {0, 0};
};
static_assert(sizeof(Note) == 64);

struct Received {
  Note note{};
  Descriptor descriptor{};
  pid_t sender = 0;  // as the system says, in this process's numbering; 0 when it can't
};

// Notes over a connected unix socket (stream or sequenced packets) that pass descriptors. Never
// waits. Not thread-safe.
class Channel {
 public:
  explicit Channel(Socket socket);

  // False when the socket is full. `descriptor` is borrowed; -1: none. Fails with kPeerLost.
  Result<bool> send(const Note& note, int descriptor);
  // The next note that has come, if one has. Fails with kPeerLost when there is none and the peer
  // has closed, with kBadFrame when what came is no note.
  Result<std::optional<Received>> receive();

  int socket() const { return socket_.descriptor(); }

 private:
  Result<bool> read_some();

  Socket socket_;
  // What has come of the next note.
  std::byte bytes_[sizeof(Note)]{};
  std::size_t filled_ = 0;
  Descriptor descriptor_;
  pid_t sender_ = 0;
};

}  // namespace commrig::transport
