// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "base/abort.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/socket.h"
#include "bootstrap/exchange.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

struct RingOptions {
  Address listen = Address::loopback(AF_INET);  // of the interface; port 0
  const AbortFlag* abort = nullptr;
  Nanos root_within = kForever;      // until the root's address answers; then kRootLost
  Nanos connect_within = kForever;   // until both neighbours are connected
  Nanos exchange_within = kForever;  // each call of the exchange
  // kTriesAgain where the root's address was known before the root listens there.
  Refused refused = Refused::kFails;
};

// Checks in with the root of `id` and connects to the neighbours; returns when both are connected.
// All-gather takes ranks/2 rounds, each sending a block to both sides; for an even number of ranks
// the last round goes one way. 2 connections a rank, whatever the number of ranks.
//
// A neighbour that is lost is an error that names it and its address, at once; it goes round the
// ring, so every rank names the one that was lost first.
Result<std::unique_ptr<Exchange>> join_ring(Executor& executor, const UniqueId& id, int rank,
                                            int ranks, const RingOptions& options = {});

}  // namespace commrig::bootstrap
