// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string_view>

namespace commrig {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError };

// Receives every line that the library wants to say, without prefix or newline. Called on any
// thread, possibly on several at once.
using LogSink = void (*)(LogLevel level, std::string_view line);

// Installs `sink` (null: lines are dropped) and returns the previous one. The library itself never
// prints; the process's face installs `stderr_sink` or its own. Thread-safe.
LogSink set_log_sink(LogSink sink);

// Hands `line` to the installed sink. Thread-safe.
void log(LogLevel level, std::string_view line);

// Writes "commrig: <line>\n" to standard error in one write, debug lines excepted.
void stderr_sink(LogLevel level, std::string_view line);

}  // namespace commrig
