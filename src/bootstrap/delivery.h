// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "base/address.h"
#include "base/result.h"
#include "base/socket.h"

namespace commrig::bootstrap {

// Bytes on their way to an address over a connection of their own. Never blocks: step() is called
// whenever what watch() names is ready. Not thread-safe.
class Delivery {
 public:
  // `rank`: whom it is for; `required`: whether it matters when he can't be reached.
  Delivery(int rank, const Address& to, std::vector<std::byte> bytes, bool required)
      : rank_(rank), to_(to), bytes_(std::move(bytes)), required_(required) {}

  // Whether everything was handed to the system.
  Result<bool> step();
  pollfd watch() const { return {.fd = socket_.descriptor(), .events = POLLOUT, .revents = 0}; }

  int rank() const { return rank_; }
  const Address& to() const { return to_; }
  bool required() const { return required_; }

 private:
  int rank_;
  Address to_;
  std::vector<std::byte> bytes_;
  bool required_;
  std::size_t moved_ = 0;
  bool connected_ = false;
  Socket socket_;
};

}  // namespace commrig::bootstrap
