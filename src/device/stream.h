// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/guarded.h"
#include "base/result.h"
#include "device/stream_table.h"
#include "device/work_cells.h"

namespace commrig::device {

class Machine;

// Works in order, one after the other. Enqueueing never waits. The first error sticks: what is
// behind it is cancelled, and every later synchronise returns it. Thread-safe. Made by
// Machine::create_stream; must be idle or failed when it is destroyed, or its works are waited for.
class Stream {
 public:
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Fails with kStreamFailed when an error sticks to the stream already; the work is cancelled
  // then.
  Status enqueue(WorkPtr work);
  // The same for a new work that is made of the arguments; allocates nothing while few works are on
  // the stream.
  template <typename T, typename... Arguments>
  Status emplace(Arguments&&... arguments) {
    return enqueue(cells_.make<T>(std::forward<Arguments>(arguments)...));
  }

  // The sticky error, if there is one.
  Status status() const;
  bool idle() const { return completed() == enqueued(); }

  // Works enqueued and ended so far.
  std::uint64_t enqueued() const { return slot_->enqueued.load(std::memory_order_acquire); }
  std::uint64_t completed() const { return slot_->completed.load(std::memory_order_acquire); }

  int device() const { return device_; }
  int number() const { return number_; }
  Machine& machine() const { return machine_; }

 private:
  friend class Machine;
  Stream(Machine& machine, int device, int number)
      : machine_(machine), device_(device), number_(number) {}

  // One thread at a time is inside. Who comes meanwhile goes away, and the one inside pokes the
  // machine when it leaves, so that what the other came for isn't lost.
  enum class Claim : std::uint32_t { kFree, kTaken, kContended };
  bool try_claim();
  void leave();

  // Steps the works from the front until one is pending; true when one has ended. Returns at once
  // when another thread is at it.
  bool advance();
  bool advance_claimed();
  // Begins the work at once, if nothing is before it and no other thread is at the stream; it is
  // moved from then.
  bool begin_now(WorkPtr& work);
  // Whether nothing is before the next work, or nothing any more after a few looks.
  bool runs_dry();
  bool dry() const { return taken_.empty() && enqueued() == taken_count_; }
  // Whether the front work says so; false when another thread is at it.
  bool may_go_on();

  // The front work, null when there is none. Only the claimer calls it.
  Work* front();
  void end_front(std::optional<Error> failed);

  using Works = std::deque<WorkPtr>;
  Machine& machine_;
  int device_;
  int number_;                  // counts from 0 over the machine
  StreamSlot* slot_ = nullptr;  // of the machine's table
  WorkCells cells_;             // outlive the works
  std::atomic<Claim> claim_{Claim::kFree};
  // Of the claimer: the works at the front, and how many have been there so far.
  Works taken_;
  std::uint64_t taken_count_ = 0;
  unsigned vain_ = 0;           // how often in a row looks were in vain
  unsigned without_looks_ = 0;  // works that come until the next try
  Guarded<Works> incoming_;     // behind those
  std::atomic<bool> failed_{false};
  Guarded<std::optional<Error>> error_;
};

}  // namespace commrig::device
