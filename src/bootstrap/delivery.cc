// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/delivery.h"

#include <span>
#include <utility>

namespace commrig::bootstrap {

Result<bool> Delivery::step() {
  if (!socket_) {
    COMMRIG_ASSIGN(socket_, Socket::begin_connect(to_));
    return false;
  }
  if (!connected_) {
    COMMRIG_TRY(socket_.finish_connect());
    connected_ = true;
  }
  while (moved_ < bytes_.size()) {
    COMMRIG_ASSIGN(const Moved moved, socket_.write_some(std::span(bytes_).subspan(moved_)));
    if (moved.bytes == 0) return false;
    moved_ += moved.bytes;
  }
  return true;
}

}  // namespace commrig::bootstrap
