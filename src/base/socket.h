// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/abort.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/executor.h"
#include "base/result.h"

namespace commrig {

// By what the waits of a call are done, and what ends them early.
struct Waiting {
  Executor& executor;
  const AbortFlag* abort = nullptr;
  Nanos deadline = kForever;  // of the executor's clock

  // Until `descriptor` is ready for one of the events of poll(2).
  Status until(int descriptor, short events, const char* what) const;
};

// What one attempt to read or write has done; 0 bytes when it would have to wait.
struct Moved {
  std::size_t bytes = 0;
  bool ended = false;  // reading: the peer has closed, and everything was read
};

// One end of a stream connection (TCP or unix), non-blocking and closed on exec. Messages of its
// errors (kConnection where the peer is concerned) carry the peer's address and the system's text.
// One thread at a time reads, one writes.
class Socket {
 public:
  Socket() = default;
  // `peer` names the other end in messages.
  Socket(Descriptor descriptor, std::string peer)
      : descriptor_(std::move(descriptor)), peer_(std::move(peer)) {}

  // Begins to connect; once the descriptor is writable, finish_connect says how it went.
  static Result<Socket> begin_connect(const Address& address);
  Status finish_connect() const;

  // Never wait. Writing to a peer that is gone is an error, not a signal.
  Result<Moved> read_some(std::span<std::byte> bytes) const;
  Result<Moved> write_some(std::span<const std::byte> bytes) const;

  // All of the bytes, or an error; `what` names them, and is static.
  Status read_all(std::span<std::byte> bytes, const char* what, const Waiting& waiting) const;
  Status write_all(std::span<const std::byte> bytes, const char* what,
                   const Waiting& waiting) const;

  int descriptor() const { return descriptor_.get(); }
  const std::string& peer() const { return peer_; }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  void close() { descriptor_.reset(); }

 private:
  Descriptor descriptor_;
  std::string peer_;
};

// What connect() does when nobody listens.
enum class Refused : std::uint8_t {
  kFails,       // the listener was there before its address was given away: it has ended
  kTriesAgain,  // the listener may come later
};

// A TCP connection. A host that can't be reached or doesn't answer is tried again until the
// deadline, each time with a new socket and after a pause that grows to 3.4 s.
Result<Socket> connect(const Address& address, const Waiting& waiting,
                       Refused refused = Refused::kFails);

// Where others connect to.
class Listener {
 public:
  Listener() = default;
  // TCP at the address; port 0 takes a free one.
  static Result<Listener> open(const Address& address);
  // A unix stream socket under a name of the abstract namespace, which leaves no file behind. An
  // empty name takes a free one.
  static Result<Listener> open_unix(const std::string& name = {});

  // The next connection, if one is there.
  Result<std::optional<Socket>> try_accept() const;
  Result<Socket> accept(const char* what, const Waiting& waiting) const;

  const Address& address() const { return address_; }          // of a TCP listener
  const std::string& unix_name() const { return unix_name_; }  // of a unix listener
  int descriptor() const { return descriptor_.get(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  void close() { descriptor_.reset(); }

 private:
  Descriptor descriptor_;
  Address address_;
  std::string unix_name_;
};

}  // namespace commrig
