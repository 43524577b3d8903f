// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <map>
#include <memory>

#include "base/abort.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/guarded.h"
#include "base/result.h"
#include "bootstrap/exchange.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

class MemoryGroup;

struct MemoryOptions {
  const AbortFlag* abort = nullptr;
  Nanos join_within = kForever;      // until all ranks have come
  Nanos exchange_within = kForever;  // each call of the exchange
};

// Where ranks of one process find each other by their unique id; nobody needs a root. For
// communicators all of whose ranks live in this process: which ranks of a larger one do is known
// only after an exchange, so there each rank goes through the ring by itself, with the same
// results.
//
// Thread-safe. Outlives the exchanges that it makes. Remembers ids that were used, 128 bytes each.
class MemoryRendezvous {
 public:
  explicit MemoryRendezvous(Executor& executor);
  ~MemoryRendezvous();
  MemoryRendezvous(const MemoryRendezvous&) = delete;
  MemoryRendezvous& operator=(const MemoryRendezvous&) = delete;

  // Returns when all `ranks` have joined. Fails with kIdUsed, kRankTwice, kSetupMismatch, or
  // kRankAbsent at the deadline, the last three on every rank that waits.
  Result<std::unique_ptr<Exchange>> join(const UniqueId& id, int rank, int ranks,
                                         const MemoryOptions& options = {});

 private:
  using Groups = std::map<UniqueId::Bytes, std::unique_ptr<MemoryGroup>>;
  Executor& executor_;
  Guarded<Groups> groups_;
};

}  // namespace commrig::bootstrap
