// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

#include "base/guarded.h"
#include "base/result.h"

namespace commrig {

class Executor;

// Ends the waits of a group of participants with one error: the first that was raised. A flag may
// hang below others (a launch below its group and its machine); a raised parent ends the child's
// waits too. Thread-safe. Waits that name a flag must have ended before it is destroyed.
class AbortFlag {
 public:
  explicit AbortFlag(const AbortFlag* parent = nullptr, const AbortFlag* other = nullptr)
      : parents_{parent, other} {}
  ~AbortFlag() = default;
  AbortFlag(const AbortFlag&) = delete;
  AbortFlag& operator=(const AbortFlag&) = delete;

  // Sets the error if none is set yet and wakes every waiter of `executor`.
  void raise(const Error& error, Executor& executor);

  bool raised() const {
    return raised_.load(std::memory_order_acquire) || parent_raised(0) || parent_raised(1);
  }
  // The error that ended the waits, a parent's before its own; nothing while not raised.
  std::optional<Error> error() const;

 private:
  bool parent_raised(std::size_t i) const {
    return parents_[i] != nullptr && parents_[i]->raised();
  }

  std::array<const AbortFlag*, 2> parents_;
  std::atomic<bool> raised_{false};
  Guarded<std::optional<Error>> error_;
};

}  // namespace commrig
