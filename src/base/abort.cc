// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/abort.h"

#include "base/executor.h"

namespace commrig {

void AbortFlag::raise(const Error& error, Executor& executor) {
  {
    const auto held = error_.lock();
    if (held->has_value()) return;
    held->emplace(error);
    raised_.store(true, std::memory_order_release);
  }
  executor.wake_all();
}

std::optional<Error> AbortFlag::error() const {
  for (const AbortFlag* parent : parents_) {
    if (parent != nullptr && parent->raised()) return parent->error();
  }
  return *error_.lock();
}

}  // namespace commrig
