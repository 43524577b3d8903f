// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace commrig {

// Called when a COMMRIG_CHECK fails, with the whole message. It may throw or not return; when it
// returns, the process is aborted.
using CheckHandler = void (*)(std::string_view message);

// Installs `handler` (null: the default, which logs and aborts) and returns the previous one.
// Thread-safe.
CheckHandler set_check_handler(CheckHandler handler);

// Reports a broken invariant of ours. Not for expected failures: those are Results.
[[noreturn]] void check_failed(std::string_view condition, std::string_view message,
                               std::source_location where = std::source_location::current());

}  // namespace commrig

// Ends the process through the installed handler when `condition` does not hold. `message` is a
// string expression with the values that matter, evaluated only on failure.
#define COMMRIG_CHECK(condition, message)             \
  do {                                                \
    if (!(condition)) [[unlikely]] {                  \
      ::commrig::check_failed(#condition, (message)); \
    }                                                 \
  } while (false)
