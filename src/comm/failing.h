// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>

#include "comm/outbox.h"
#include "comm/team.h"
#include "device/work.h"

namespace commrig::comm {

// How an operation ends with an error: peers may still be at the caller's buffers, which he is free
// to give away once he has the error. So the error is raised first, after which nobody begins to
// touch them, and kept until nobody does any more.
class Failing {
 public:
  bool begun() const { return error_.has_value(); }

  // The first error of the communicator is everybody's.
  void begin(Team& team, const Error& error);

  // kPending while a peer is at it, else the error.
  Result<device::Progress> step(Team& team, int rank, Outbox& outbox) const;
  bool may_go_on(Team& team, int rank) const;

 private:
  std::optional<Error> error_;
};

}  // namespace commrig::comm
