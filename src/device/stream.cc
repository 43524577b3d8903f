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
  {
    const auto state = state_.lock();
    if (state->error.has_value()) {
      return Error::make(Code::kStreamFailed,
                         fmt::format("stream {} of device {}; its first error was: {}", number_,
                                     device_, to_string(*state->error)));
    }
    state->works.push_back(std::move(work));
    enqueued_.fetch_add(1, std::memory_order_acq_rel);
  }
  machine_.poke();
  return ok();
}

Status Stream::status() const {
  const auto state = state_.lock();
  if (state->error.has_value()) return *state->error;
  return ok();
}

bool Stream::advance() {
  if (claimed_.exchange(true, std::memory_order_seq_cst)) return false;
  const bool progressed = advance_claimed();
  claimed_.store(false, std::memory_order_seq_cst);
  return progressed;
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
    completed_.fetch_add(1, std::memory_order_acq_rel);
    progressed = true;
  }
}

}  // namespace commrig::device
