// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

namespace commrig {
namespace {

std::atomic<LogSink> installed_sink{nullptr};

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) return;  // Nobody is left to tell.
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  return installed_sink.exchange(sink);
}

void log(LogLevel level, std::string_view line) {
  if (const LogSink sink = installed_sink.load(std::memory_order_acquire)) sink(level, line);
}

void stderr_sink(LogLevel level, std::string_view line) {
  if (level == LogLevel::kDebug) return;
  std::string text = "commrig: ";
  text.append(line).push_back('\n');
  write_all(STDERR_FILENO, text);
}

}  // namespace commrig
