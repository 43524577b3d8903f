// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/door.h"

#include "base/futex.h"

namespace commrig {

void ring(Door& door) {
  door.rung.fetch_add(1, std::memory_order_acq_rel);
  if (announce(door.place)) futex_wake_all(door.place.sequence, Reach::kHost);
}

}  // namespace commrig
