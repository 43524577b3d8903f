// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/check.h"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include "base/log.h"

namespace commrig {
namespace {

std::atomic<CheckHandler> installed_handler{nullptr};

}  // namespace

CheckHandler set_check_handler(CheckHandler handler) {
  return installed_handler.exchange(handler);
}

void check_failed(std::string_view condition, std::string_view message,
                  std::source_location where) {
  const std::string text = fmt::format("{}:{}: check failed: {} ({})", where.file_name(),
                                       where.line(), condition, message);
  if (const CheckHandler handler = installed_handler.load()) handler(text);
  log(LogLevel::kError, text);
  std::abort();
}

}  // namespace commrig
