// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>

#include "base/address.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/socket.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

struct CheckInSpec {
  UniqueId id;
  int rank = 0;
  int ranks = 1;
  Address listen;            // where the answer is waited for; port 0
  Address ring;              // where this rank waits for the previous one
  Nanos root_by = kForever;  // when the root's address must have answered
  Refused refused = Refused::kFails;
};

struct CheckedIn {
  Address next;  // where the next rank waits
  // The connection to the root, to be kept until this rank is connected to both neighbours: the
  // root takes its end for the end of the rank.
  Socket root;
};

// Tells the root that this rank is there and waits for the answer. Fails with what the root says
// (kRankAbsent, kRankTwice, kSetupMismatch, kIdUsed, kRankLost) or with kRootLost.
Result<CheckedIn> check_in(const CheckInSpec& spec, const Waiting& waiting);

}  // namespace commrig::bootstrap
