// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/door.h"
#include "base/result.h"
#include "dtype/dtype.h"

namespace commrig::transport {

enum class Progress : std::uint8_t { kPending, kDone };

// What the bytes of a message are, so that a link sees whether both ends mean the same. kUntyped
// agrees with all.
using Elements = std::uint8_t;
inline constexpr Elements kUntyped = 0;
constexpr Elements elements_of(dtype::Dtype dtype) {
  return static_cast<Elements>(dtype::index(dtype) + 1);
}

// A message on its way out. The caller owns it and its bytes, and changes neither until send() has
// given kDone or an error; not even when another link has failed meanwhile, because the peer may be
// reading the bytes (abort() the link and call send() until it says so). `moved` and `state` belong
// to the link.
struct Outgoing {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  Elements elements = kUntyped;
  std::size_t moved = 0;
  std::uint64_t state = 0;
};

// A place for the peer's next message, which must have exactly this length and these elements.
struct Incoming {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Elements elements = kUntyped;
  std::size_t moved = 0;
  std::uint64_t state = 0;
};

// One rank's end of the way to one peer: messages that arrive whole, once and in order, or an
// error. Nothing blocks: a function does what can be done now and is called again until kDone,
// after the waker was called or at any time. The waker is called only for what has returned
// kPending. One message at a time goes out, and one comes in; the two directions may be driven by
// different threads, each by one at a time. A link is destroyed when neither is under way.
//
// Errors stay: kMessageLength (both lengths and elements, on both ends; the message is not
// delivered in part), kPeerLost (names the rank, and what the system said; what had arrived whole
// is delivered before), kBadFrame, kPeerAddress, kAborted after abort(). Where the peer is reached
// through a network, send may say kDone a few times more before it learns what its other end knows.
class Link {
 public:
  virtual ~Link() = default;
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  virtual Result<Progress> send(Outgoing& message) = 0;
  virtual Result<Progress> recv(Incoming& message) = 0;

  // Ends both directions with kAborted, on both ends; never waits. Thread-safe. `lost_rank`: whose
  // loss is the cause, if one is, which both ends then name.
  virtual void abort(int lost_rank) = 0;
  void abort() { abort(kNobody); }
  static constexpr int kNobody = -1;

  // Whose loss has ended this link, as far as this end knows: its peer's, or that of a third rank
  // of which the peer has told. Thread-safe.
  virtual int lost_rank() const = 0;

  // The peer is known to be gone, says somebody who watches its process: this end fails with
  // `error`, recv after it has delivered what had arrived whole. Never waits. Thread-safe.
  virtual void lose(const Error& error) = 0;

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

// Rings the door at which the threads of a process sleep, this one or another.
class DoorWaker final : public Waker {
 public:
  // The door must outlive the waker.
  explicit DoorWaker(Door& door) : door_(door) {}
  void wake() override { ring(door_); }

 private:
  Door& door_;
};

// The two ends of one link, as a message names them: "rank 1 (thread)".
struct Ends {
  int rank = 0;
  int peer = 0;
  // What is known of the peer: "thread", "process 123 of this host", "tcp 127.0.0.1:4242".
  std::string peer_place{};
};

}  // namespace commrig::transport
