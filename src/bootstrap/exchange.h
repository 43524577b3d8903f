// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace commrig::bootstrap {

// The ranks of a communicator, before it has links of its own: enough to tell each other where
// those are. Every rank calls the same functions in the same order. One thread at a time uses it,
// but for abort().
//
// The first error stays: the exchange is of no use any more, and the other ranks learn of it, a
// slow one perhaps while it is still in the call before.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // `blocks` holds one block for each rank, in rank order; the own one is given, the others are
  // filled in. Returns when all have come.
  virtual Status all_gather(std::span<std::byte> blocks, std::size_t block_bytes) = 0;

  // Returns when every rank has called it.
  virtual Status barrier() = 0;

  // Ends the call in progress and all later ones with `error`, on the other ranks too. Never
  // waits. Thread-safe.
  virtual void abort(const Error& error) = 0;
};

}  // namespace commrig::bootstrap
