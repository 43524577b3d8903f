// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/report.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "base/log.h"

namespace commrig::cli {

int report_error(const Error& error) {
  log(LogLevel::kError, to_string(error));
  // A bad argument says itself where the help is.
  if (error.code != Code::kBadArgument) {
    log(LogLevel::kInfo, fmt::format("see commrig explain {}", code_info(error.code).id));
  }
  return error.code == Code::kBadArgument ? kExitUsage : kExitFinding;
}

int close_output(int exit_code) {
  errno = 0;
  const bool failed = std::ferror(stdout) != 0;
  if (std::fclose(stdout) == 0 && !failed) return exit_code;
  const std::string why = std::error_code(errno, std::generic_category()).message();
  (void)report_error(Error::make(Code::kSystemCall, "writing to standard output: " + why));
  return kExitFinding;
}

}  // namespace commrig::cli
