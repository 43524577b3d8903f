// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/stream.h"

#include <fmt/format.h>

#include "device/machine.h"

namespace commrig::device {

Stream::~Stream() {
  machine_.retire(*this);
}

Status Stream::enqueue(std::unique_ptr<Work> work) {
  const bool quick = work->quick();
  bool first = false;
  {
    const auto state = state_.lock();
    if (state->error.has_value()) {
      return Error::make(Code::kStreamFailed,
                         fmt::format("stream {} of device {}; its first error was: {}", number_,
                                     device_, to_string(*state->error)));
    }
    first = state->works.empty();
    state->works.push_back(std::move(work));
    slot_->enqueued.fetch_add(1, std::memory_order_acq_rel);
  }
  if (!quick) {
    machine_.poke();
    return ok();
  }
  if (first) advance();
  machine_.stir();
  if (slot_->busy()) machine_.expect_sweep();
  return ok();
}

Status Stream::status() const {
  const auto state = state_.lock();
  if (state->error.has_value()) return *state->error;
  return ok();
}

bool Stream::try_claim() {
  Claim found = Claim::kFree;
  while (!claim_.compare_exchange_weak(found,
                                       found == Claim::kFree ? Claim::kTaken : Claim::kContended,
                                       std::memory_order_seq_cst)) {
  }
  return found == Claim::kFree;
}

void Stream::leave() {
  if (claim_.exchange(Claim::kFree, std::memory_order_seq_cst) == Claim::kContended) {
    machine_.poke();
  }
}

bool Stream::advance() {
  if (!try_claim()) return false;
  const bool progressed = advance_claimed();
  leave();
  return progressed;
}

bool Stream::may_go_on() {
  if (!try_claim()) return false;
  bool may = false;
  {
    const auto state = state_.lock();
    may = !state->works.empty() && state->works.front()->may_go_on();
  }
  leave();
  return may;
}

bool Stream::advance_claimed() {
  bool progressed = false;
  while (true) {
    Work* work = nullptr;
    std::optional<Error> failed;
    {
      const auto state = state_.lock();
      if (state->works.empty()) return progressed;
      work = state->works.front().get();
      failed = state->error;
    }
    // Stepped without the lock: only the claimer removes works, so the front stays.
    if (failed.has_value()) {
      work->cancel(*failed);
    } else {
      Result<Progress> step = work->step();
      if (step.has_value() && *step == Progress::kPending) return progressed;
      if (!step.has_value()) failed = std::move(step).error();
    }
    std::unique_ptr<Work> ended;
    {
      const auto state = state_.lock();
      if (failed.has_value() && !state->error.has_value()) state->error = std::move(failed);
      ended = std::move(state->works.front());
      state->works.pop_front();
    }
    ended.reset();
    slot_->completed.fetch_add(1, std::memory_order_acq_rel);
    progressed = true;
  }
}

}  // namespace commrig::device
