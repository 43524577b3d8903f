// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace commrig::transport {

enum class Progress : std::uint8_t { kPending, kDone };

// A message on its way out. The caller owns it and its bytes, and changes neither until send() has
// given kDone. `moved` and `state` belong to the link.
struct Outgoing {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::size_t moved = 0;
  std::uint64_t state = 0;
};

// A place for the peer's next message, which must have exactly this length.
struct Incoming {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::size_t moved = 0;
  std::uint64_t state = 0;
};

// One rank's end of the way to one peer: messages that arrive whole, once and in order, or an
// error. Nothing blocks: a function does what can be done now and is called again until kDone, after
// the waker was called or at any time. One message at a time goes out, and one comes in; the two
// directions may be driven by different threads, each by one at a time.
//
// Errors stay: kMessageLength (both lengths; the message is not delivered in part), kPeerLost (names
// the rank, and what the system said), kAborted after abort().
class Link {
 public:
  virtual ~Link() = default;
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  virtual Result<Progress> send(Outgoing& message) = 0;
  virtual Result<Progress> recv(Incoming& message) = 0;

  // Ends both directions with kAborted, on both ends; never waits. Thread-safe.
  virtual void abort() = 0;

  // "self", "thread", "shm", "tcp"
  virtual std::string_view kind() const = 0;
};

// How a link says that something may go on now. Called from any thread, at times without a reason;
// must neither block nor wait.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

}  // namespace commrig::transport
