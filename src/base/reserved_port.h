// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

#include "base/descriptor.h"
#include "base/result.h"

namespace commrig {

// A TCP port of this host, on all IPv4 addresses, that the system gives to nobody else as long as
// this lives. It is for one who knows its number, in this process or another: Listener::open still
// takes it. A value that is moved.
class ReservedPort {
 public:
  // A free port. Fails with kSystemCall.
  static Result<ReservedPort> take();

  std::uint16_t number() const { return number_; }

 private:
  ReservedPort(Descriptor descriptor, std::uint16_t number)
      : descriptor_(std::move(descriptor)), number_(number) {}
  Descriptor descriptor_;  // bound, and never listening
  std::uint16_t number_;
};

}  // namespace commrig
