// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"

namespace commrig::cli::run {

// A small process that kills process groups when this one ends without having taken them off the
// list, however it ends: the system kills the children of a process that is killed, but not
// theirs. It has no output, and signals from a terminal do not reach it.
class Guard {
 public:
  // Fails with kSystemCall. Before this process has threads.
  static Result<Guard> start();
  // Ends it; it kills what is still on its list.
  ~Guard();
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  void watch(pid_t group) const { tell(group); }
  void forget(pid_t group) const { tell(-group); }
  pid_t process() const { return process_; }

 private:
  Guard(pid_t process, Descriptor line) : process_(process), line_(std::move(line)) {}
  void tell(pid_t word) const;

  pid_t process_;
  Descriptor line_;  // a group that is watched, or minus one that no longer is
};

}  // namespace commrig::cli::run
