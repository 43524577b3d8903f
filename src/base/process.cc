// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/process.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace commrig {
namespace {

Error refused(std::string_view call) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(Code::kSystemCall, fmt::format("{}: {}", call, text));
}

}  // namespace

Result<Descriptor> watch_process(pid_t process) {
  // Such descriptors close on exec by themselves. glibc has a wrapper from 2.36 on.
  Descriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!descriptor) return refused(fmt::format("pidfd_open of process {}", process));
  return descriptor;
}

Result<unsigned long> raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return refused("getrlimit");
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return refused("setrlimit");
  }
  return static_cast<unsigned long>(limit.rlim_cur);
}

}  // namespace commrig
