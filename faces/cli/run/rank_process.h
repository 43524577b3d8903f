// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "faces/cli/run/course.h"
#include "faces/cli/run/rank_environment.h"

namespace commrig::cli::run {

struct StartSpec {
  std::vector<std::string> program;  // looked for along PATH where it has no slash
  Variables environment;
  bool piped = false;       // standard output and error come through RankProcess
  bool reads_input = true;  // standard input is ours; else it is empty
  bool own_group = true;    // a process group of its own, in which it can be signalled whole
};

// A process that was started. The system kills it when this process ends; everybody in its group
// can be signalled as long as it was not reaped, since its number is its own until then.
class RankProcess {
 public:
  // Returns when the program was loaded. Fails with kBadArgument where there is no such program,
  // kSystemCall otherwise. This process has one thread.
  static Result<RankProcess> start(const StartSpec& spec);

  pid_t process() const { return process_; }
  const Descriptor& output() const { return output_; }
  const Descriptor& error() const { return error_; }
  Descriptor& output() { return output_; }
  Descriptor& error() { return error_; }

  // How it ended, if it has; does not reap it.
  std::optional<End> ended() const;
  // To it, and to its group.
  void signal(int number) const;
  void reap() const;

 private:
  RankProcess() = default;
  pid_t process_ = -1;
  bool own_group_ = false;
  Descriptor output_;  // what it writes, if piped; does not block
  Descriptor error_;
};

// Lets this process become the program. Returns only if it fails.
Error become(const std::vector<std::string>& program, const Variables& environment);

}  // namespace commrig::cli::run
