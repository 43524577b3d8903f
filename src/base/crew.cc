// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/crew.h"

#include "base/check.h"

namespace commrig {

Crew::Crew(Executor& executor, int helpers) : executor_(executor), helpers_(helpers) {
  for (int i = 0; i < helpers; ++i) {
    // Without a helper the caller does his part.
    if (!executor_.spawn(Role::kService, "cr-helper", [this] { help(); })) helpers_.fetch_sub(1);
  }
}

Crew::~Crew() {
  closing_.store(true, std::memory_order_release);
  executor_.wake(&jobs_);
  const Status ended =
      executor_.wait({.key = &helpers_,
                      .ready = [this] { return helpers_.load(std::memory_order_acquire) == 0; },
                      .what = "the end of the helpers"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
}

void Crew::run(std::size_t count, FunctionRef<void(std::size_t)> piece) {
  const auto job = std::make_shared<Job>(count, piece);
  *job_.lock() = job;
  jobs_.fetch_add(1, std::memory_order_release);
  executor_.wake(&jobs_);
  take_pieces(*job);
  const Status ended = executor_.wait(
      {.key = job.get(),
       .ready = [&] { return job->ended.load(std::memory_order_acquire) == job->count; },
       .what = "the helpers' last pieces"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
  job_.lock()->reset();
}

void Crew::take_pieces(Job& job) const {
  std::size_t mine = 0;
  // The caller stays until all pieces have ended, so whoever gets one may use what it refers to.
  for (std::size_t i = 0; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.count;) {
    job.piece(i);
    ++mine;
  }
  if (mine == 0) return;
  job.ended.fetch_add(mine, std::memory_order_acq_rel);
  executor_.wake(&job);
}

void Crew::help() {
  std::uint64_t seen = 0;
  while (true) {
    const auto wanted = [&] {
      return closing_.load(std::memory_order_acquire) ||
             jobs_.load(std::memory_order_acquire) != seen;
    };
    const Status woken = executor_.wait({.key = &jobs_, .ready = wanted, .what = "pieces"});
    if (!woken.has_value() || closing_.load(std::memory_order_acquire)) break;
    seen = jobs_.load(std::memory_order_acquire);
    const std::shared_ptr<Job> job = *job_.lock();
    if (job != nullptr) take_pieces(*job);
  }
  Executor& executor = executor_;
  const void* key = &helpers_;
  helpers_.fetch_sub(1, std::memory_order_acq_rel);
  executor.wake(key);  // The crew may be gone by now; the key is only a number.
}

}  // namespace commrig
