// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/pause.h"
#include "device/machine.h"

namespace commrig::device {
namespace {

// The quick work before is often about to end, a cache line's way off; then the next one begins at
// once. A try takes some 0.5 us at most; after each that was in vain in a row, twice as many works
// come before the next.
constexpr int kLooks = 32;
constexpr unsigned kVainMax = 6;

}  // namespace

Stream::~Stream() {
  machine_.retire(*this);
}

Status Stream::enqueue(WorkPtr work) {
  if (failed_.load(std::memory_order_acquire)) {
    const Error reason = **error_.lock();
    work->cancel(reason);
    return Error::make(Code::kStreamFailed,
                       fmt::format("stream {} of device {}; its first error was: {}", number_,
                                   device_, to_string(reason)));
  }
  const bool quick = work->quick();
  if (!quick || !begin_now(work)) {
    const auto incoming = incoming_.lock();
    incoming->push_back(std::move(work));
    slot_->enqueued.fetch_add(1, std::memory_order_seq_cst);
  }
  if (!quick) {
    machine_.poke();
    return ok();
  }
  machine_.stir();
  if (slot_->busy()) machine_.expect_sweep();
  return ok();
}

bool Stream::begin_now(WorkPtr& work) {
  if (!try_claim()) return false;
  const bool alone = runs_dry();
  if (alone) {
    ++taken_count_;
    taken_.push_back(std::move(work));
    slot_->enqueued.fetch_add(1, std::memory_order_seq_cst);
    advance_claimed();
  }
  leave();
  return alone;
}

bool Stream::runs_dry() {
  if (dry()) return true;
  if (without_looks_ > 0) {
    --without_looks_;
    return false;
  }
  for (int look = 0; look < kLooks; ++look) {
    if (const Work* const before = front(); before != nullptr && !before->quick()) return false;
    advance_claimed();
    if (dry()) {
      vain_ = 0;
      return true;
    }
    pause_core();
  }
  vain_ = std::min(vain_ + 1, kVainMax);
  without_looks_ = 1U << vain_;
  return false;
}

Status Stream::status() const {
  if (!failed_.load(std::memory_order_acquire)) return ok();
  return **error_.lock();
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
  const bool may = taken_.empty() ? enqueued() != taken_count_ : taken_.front()->may_go_on();
  leave();
  return may;
}

Work* Stream::front() {
  if (taken_.empty() && enqueued() != taken_count_) {
    taken_.swap(*incoming_.lock());
    taken_count_ += taken_.size();
  }
  return taken_.empty() ? nullptr : taken_.front().get();
}

bool Stream::advance_claimed() {
  bool progressed = false;
  while (Work* const work = front()) {
    std::optional<Error> failed;
    if (failed_.load(std::memory_order_relaxed)) {
      const Error reason = status().error();
      work->cancel(reason);
    } else {
      Result<Progress> step = work->step();
      if (step.has_value() && *step == Progress::kPending) return progressed;
      if (!step.has_value()) failed = std::move(step).error();
    }
    end_front(std::move(failed));
    progressed = true;
  }
  return progressed;
}

void Stream::end_front(std::optional<Error> failed) {
  if (failed.has_value()) {
    *error_.lock() = std::move(failed);
    failed_.store(true, std::memory_order_release);
  }
  taken_.pop_front();
  slot_->completed.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace commrig::device
