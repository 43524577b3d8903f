// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>

#include "base/abort.h"
#include "base/clock.h"
#include "base/function_ref.h"
#include "base/guarded.h"
#include "base/result.h"

namespace commrig {

enum class Compare : std::uint8_t { kEqual, kNotEqual, kAtLeast };

// Whether `found` passes the comparison with `value`.
inline bool holds(Compare compare, std::uint64_t found, std::uint64_t value) {
  switch (compare) {
    case Compare::kEqual:
      return found == value;
    case Compare::kNotEqual:
      return found != value;
    case Compare::kAtLeast:
      return found >= value;
  }
  return false;
}

// A wait as data: "the word at this address compares so with this value". Unlike a predicate, it
// can be looked at by others, who want to know why somebody does not go on.
struct WordCondition {
  const void* address = nullptr;
  std::uint8_t bytes = 8;  // 4 or 8
  Compare compare = Compare::kAtLeast;
  std::uint64_t value = 0;

  // Reads the word with acquire order and compares. The word must be alive.
  bool satisfied() const;
  // The word as it is now.
  std::uint64_t found() const;
};

// What one participant (a block of a kernel, a service thread) waits for at the moment, posted by
// its waits once they stop spinning. Others may look at it from any thread.
class WaitPost {
 public:
  struct View {
    WordCondition condition;
    const char* what = "";   // static text
    std::uint64_t turn = 0;  // differs for each posted wait, so that two looks can be compared
  };

  void post(const WordCondition& condition, const char* what) {
    const auto view = view_.lock();
    view->emplace(View{condition, what, ++turn_});
  }
  void clear() { view_.lock()->reset(); }
  std::optional<View> look() const { return *view_.lock(); }
  // Whether it waits for something that has not come.
  bool stuck() const {
    const auto locked = view_.lock();
    const std::optional<View>& view = *locked;
    return view.has_value() && !view->condition.satisfied();
  }

 private:
  std::uint64_t turn_ = 0;  // guarded by view_'s lock
  Guarded<std::optional<View>> view_;
};

// Told when a wait of a participant is about to sleep, after it was posted, and when it is over; on
// the waiting thread. A sleeper that was woken and finds that it must sleep on resumes and blocks
// anew. Must neither block nor wait.
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  virtual void on_blocked() = 0;
  // The wait that slept is over (or was not needed after all).
  virtual void on_resumed() = 0;
};

// One wait. The references must live until the wait has returned.
struct WaitSpec {
  // Whoever makes `ready` true calls Executor::wake with this key afterwards.
  const void* key = nullptr;
  // Cheap, without side effects; called any number of times, by the waiting thread (and by a
  // deterministic executor on its behalf).
  FunctionRef<bool()> ready;
  const char* what = "";                     // static text for people
  const AbortFlag* abort = nullptr;          // ends the wait with the flag's error
  Nanos deadline = kForever;                 // of the executor's clock
  bool patient = false;                      // sleeps at once, for nobody depends on its haste
  bool in_user_code = false;                 // the waiter counts as a computing rank while it runs
  const WordCondition* condition = nullptr;  // what `ready` means, where it is one word
  WaitPost* post = nullptr;                  // where to post it
  WaitObserver* observer = nullptr;
};

}  // namespace commrig
