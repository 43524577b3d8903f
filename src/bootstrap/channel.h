// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/socket.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {

// A connection to a neighbour in the ring, over which messages with their length in front go both
// ways. Never blocks. An end, or a notice of the neighbour, is an error that names the rank that
// was lost and its address; a message of another length than expected is kSetupMismatch. Not
// thread-safe.
class Channel {
 public:
  Channel(Socket socket, int peer_rank);

  // The bytes must live until sending() or receiving() is false, or an error has come.
  void begin_send(std::span<const std::byte> bytes);
  void begin_recv(std::span<std::byte> bytes);
  bool sending() const { return sent_ < out_.size() + kLengthBytes; }
  bool receiving() const { return receiving_; }

  // What to poll for, and what to do then.
  short events() const;
  Status step();
  // While nothing is to be received: sees whether the neighbour has sent a notice, which is the
  // error, or has ended: false. A message that comes early is kept; a neighbour is never more than
  // one ahead.
  Result<bool> look();

  // Tells the neighbour why this rank gives up, if no message is halfway; never waits.
  void say(const Error& error);
  int descriptor() const { return socket_.descriptor(); }
  const std::string& peer() const { return socket_.peer(); }

 private:
  Status send();
  Status recv();
  bool listening() const;
  std::uint32_t head_length() const;
  // Fills `bytes` from `filled` on; whether they have come whole.
  Result<bool> read_into(std::span<std::byte> bytes, std::size_t& filled);
  // The length word of a message; a notice is read on, and its end is the error.
  Result<bool> read_head();
  Status check_length(std::size_t length) const;
  Error lost(const std::string& reason) const;
  Error lost_or_told(const std::string& reason);

  Socket socket_;
  int peer_rank_;
  std::array<std::byte, kLengthBytes> out_head_{};
  std::span<const std::byte> out_;
  std::size_t sent_ = kLengthBytes;  // of head and bytes
  bool receiving_ = false;
  std::array<std::byte, kLengthBytes> head_{};
  std::size_t head_filled_ = 0;
  std::span<std::byte> in_;
  std::size_t received_ = 0;
  std::vector<std::byte> notice_;
  std::size_t notice_filled_ = 0;
  std::vector<std::byte> early_;  // a message for which nobody has asked yet
  std::size_t early_filled_ = 0;
  bool early_done_ = false;
  bool ended_ = false;  // nothing more will come
};

}  // namespace commrig::bootstrap
