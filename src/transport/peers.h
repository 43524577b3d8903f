// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/guarded.h"
#include "transport/poller.h"

namespace commrig::transport {

struct WatchedPeer {
  int rank = 0;       // a rank of it, for messages
  pid_t process = 0;  // 0: not known here; then only the connection is watched
  // A connection whose other end only the peer has (PeerMemory::socket); -1: none. Borrowed.
  int socket = -1;
};

// Sees at once when another process of the host ends: the kernel tells by a pidfd, or, where its
// number means nothing here (a container), by the end of its connection. Thread-safe.
class Peers {
 public:
  // Called once per peer, on the poller's thread, as PollHandler; the error is a kPeerLost that
  // says which rank ended and how. Links to it are told by Link::lose.
  using OnLost = std::function<void(const WatchedPeer& peer, const Error& error)>;

  // The poller must outlive this.
  explicit Peers(Poller& poller);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // A process that has ended before is reported, too. Fails with kSystemCall when the system gives
  // no descriptor.
  Status watch(const WatchedPeer& peer, OnLost on_lost);
  // Nothing is reported about the rank after this has returned.
  void forget(int rank);

 private:
  class Watch;

  Poller& poller_;
  Guarded<std::map<int, std::unique_ptr<Watch>>> watches_;
};

// How a process ended that has: "was killed by signal 9", "ended with exit
// code 3", or "ended" where the system doesn't tell. Without a pidfd (-1), only while nobody has
// reaped it.
std::string describe_end(int pidfd, pid_t process);

}  // namespace commrig::transport
