// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/socket.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {

// How much of their time and ours strangers get.
struct EntranceLimits {
  Nanos handshake_within = std::chrono::seconds(30);
  std::size_t unknown_max = 512;  // connections that have not said anything whole yet
};

// A listener that lets in who knows the id. Nobody blocks anybody: each connection is read as far
// as it has come; one that says something else, ends early, or stays silent too long is dropped,
// and of too many silent ones the oldest. Not thread-safe.
class Entrance {
 public:
  struct Arrival {
    Socket socket;
    std::vector<std::byte> payload;
  };

  struct News {
    std::vector<Arrival> arrivals;
    // An error of the system, or of somebody who knows the id but says something wrong
    // (kSetupMismatch, or the error of a notice), with the address in its message.
    std::optional<Error> wrong;
  };

  // `payload_bytes` as for MessageReader.
  Entrance(Listener listener, std::uint64_t magic, std::optional<std::size_t> payload_bytes,
           const EntranceLimits& limits = {});

  // Appends what to poll for; give advance() these entries after the poll.
  void watch(std::vector<pollfd>& polls) const;
  // Everybody who is in now.
  News advance(std::span<const pollfd> polls, Nanos now);

  // Entries that watch() appends.
  std::size_t watched() const { return visitors_.size() + 1; }
  // When advance() must be called at the latest.
  Nanos next_look() const;
  // Whether somebody who knows the id is still speaking.
  bool hears_somebody() const;
  const Listener& listener() const { return listener_; }

 private:
  struct Visitor {
    Socket socket;
    MessageReader reader;
    Nanos since;
  };
  Status accept_all(Nanos now, News& news);
  // Whether the visitor is finished with.
  bool read(Visitor& visitor, News& news) const;

  Listener listener_;
  std::uint64_t magic_;
  std::optional<std::size_t> payload_bytes_;
  EntranceLimits limits_;
  std::deque<Visitor> visitors_;  // oldest first
};

}  // namespace commrig::bootstrap
