// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/events.h"

namespace commrig {

void EventStream::subscribe(Observer& observer) {
  const auto observers = observers_.lock();
  observers->push_back(&observer);
  active_.store(true, std::memory_order_relaxed);
}

void EventStream::unsubscribe(Observer& observer) {
  const auto observers = observers_.lock();
  std::erase(*observers, &observer);
  active_.store(!observers->empty(), std::memory_order_relaxed);
}

void EventStream::deliver(const Event& event) {
  // Under the lock, so that unsubscribe can promise that nothing arrives afterwards.
  const auto observers = observers_.lock();
  for (Observer* observer : *observers) observer->observe(event);
}

}  // namespace commrig
