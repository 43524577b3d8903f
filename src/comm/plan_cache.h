// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "coll/selection.h"
#include "comm/plan_run.h"

namespace commrig::comm {

// How a communicator chooses its algorithms. The same on every rank.
struct PlanOptions {
  coll::Capabilities capabilities{};
  coll::CostModel model{};
  coll::Rules rules{};
};

// Plans of one rank, made when a call of their kind comes for the first time. Not thread-safe.
class PlanCache {
 public:
  PlanCache(int rank, PlanOptions options) : rank_(rank), options_(std::move(options)) {}

  // The errors of coll::check and coll::choose.
  Result<std::shared_ptr<const KnownPlan>> find(const coll::Request& request);

  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t kEntriesMax = 256;
  struct Entry {
    coll::Request request;
    std::shared_ptr<const KnownPlan> plan;  // shared with the calls that are under way
  };
  Result<std::shared_ptr<const KnownPlan>> make(const coll::Request& request) const;

  int rank_;
  PlanOptions options_;
  std::vector<Entry> entries_;
  std::size_t last_ = 0;  // where the last one was found
  std::size_t next_ = 0;  // which one a new one takes the place of
};

}  // namespace commrig::comm
