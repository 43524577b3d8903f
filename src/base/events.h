// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"

namespace commrig {

enum class Phase : std::uint8_t { kBegin, kEnd, kInstant };

// Something that happened, for observers: traces, diagnosis, tests. `name` points to static text.
// The meaning of `a` and `b` belongs to the name and stands where the name is defined.
struct Event {
  Nanos time{0};
  const char* name = "";
  Phase phase = Phase::kInstant;
  int rank = -1;  // -1: not on behalf of one rank
  std::int64_t a = 0;
  std::int64_t b = 0;
};

// Sees events. `observe` is called on the thread where the event happened, possibly on several at
// once, and must neither block nor wait.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void observe(const Event& event) = 0;
};

// Hands events to the subscribed observers. Without observers, publishing costs one branch.
// Thread-safe; an observer must be unsubscribed before it is destroyed, and no event reaches it
// after unsubscribe has returned.
class EventStream {
 public:
  void subscribe(Observer& observer);
  void unsubscribe(Observer& observer);
  void publish(const Event& event) {
    if (active_.load(std::memory_order_relaxed)) [[unlikely]]
      deliver(event);
  }
  // Whether anybody listens: lets a caller skip the making of an event.
  bool active() const { return active_.load(std::memory_order_relaxed); }

 private:
  void deliver(const Event& event);
  std::atomic<bool> active_{false};
  Guarded<std::vector<Observer*>> observers_;
};

// Keeps every event, in order of arrival.
class EventRecorder final : public Observer {
 public:
  void observe(const Event& event) override { events_.lock()->push_back(event); }
  std::vector<Event> events() const { return *events_.lock(); }

 private:
  Guarded<std::vector<Event>> events_;
};

}  // namespace commrig
