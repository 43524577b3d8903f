// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coll/plan.h"
#include "comm/call.h"
#include "comm/operation.h"
#include "comm/staging.h"

namespace commrig::comm {

// A plan as it is kept for calls that are alike.
struct KnownPlan {
  coll::RankPlan plan;
  bool scratch_in_line = false;  // beside the flag
  bool exposes_buffers = false;  // peers use this rank's input or output
  std::size_t input_count = 0;   // elements
  std::size_t output_count = 0;
  std::uint32_t salt = 0;  // of the algorithm: ranks that chose different ones must not meet
  bool collective = true;  // false: messages between some ranks, which have no number
};

// One call on its way: carries out the steps of this rank's plan, and stops where it would have to
// wait. Steps may be made by any thread, one at a time.
class PlanRun final : public Operation {
 public:
  // `print` is the call's fingerprint.
  PlanRun(Endpoint& endpoint, Call call, std::shared_ptr<const KnownPlan> plan,
          std::uint32_t print);

  bool quick() const override;

 private:
  using Progress = device::Progress;
  Status begin() override;
  void finish() override;
  Result<Progress> go_on() override;
  bool has_come() const override;
  Result<Progress> run(const coll::Step& step);
  Status move(const coll::Step& step);
  void copy(const coll::Step& step) const;
  Status reduce(const coll::Step& step) const;
  void signal(const coll::Step& step);
  Result<Progress> wait_for_phase(const coll::Step& step);
  Result<Progress> reclaim(const coll::Step& step);
  Result<Progress> begin_send(const coll::Step& step);
  Result<Progress> recv(const coll::Step& step);

  // Whether the peer has reached the phase; an error if it is in another operation.
  Result<bool> reached(int peer, std::uint32_t phase) const;
  bool has_ended(int peer) const;
  Error mismatch() const;
  Status check_alive(int peer, std::uint32_t phase) const;
  Progress wait_on(int peer, std::uint32_t phase);

  bool touches_others(const coll::Step& step) const;
  Result<std::byte*> address(const coll::Place& place, std::size_t count) const;
  // Puts where the sources and targets of a step lie here into the endpoint's places.
  Status find_places(const coll::Step& step) const;
  std::size_t parity() const { return number_ % 2; }

  Call call_;                                    // staged buffers take the place of the caller's
  const std::shared_ptr<const KnownPlan> plan_;  // shared with the cache and other calls
  const std::uint64_t number_;
  const std::uint32_t fingerprint_;
  std::size_t at_ = 0;  // the next step
  int peer_at_ = 0;     // of a step that waits for everyone: the first that is missing
  std::byte* private_ = nullptr;
  transport::Incoming incoming_;
  std::optional<Staging> staging_;
};

}  // namespace commrig::comm
