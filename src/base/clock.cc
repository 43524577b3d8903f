// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/clock.h"

namespace commrig {

Nanos RealClock::now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace commrig
