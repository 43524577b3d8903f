// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace commrig::cli::run {

// How a process ended: with an exit code, or by a signal.
struct End {
  bool by_signal = false;
  int number = 0;

  // As shells have it: 128 and the signal.
  int exit_code() const { return by_signal ? 128 + number : number; }
};

// "SIGKILL", or the number of a signal that has no name.
std::string signal_name(int signal);

// What becomes of a job when ranks end, time passes and signals come; it knows no processes. The
// first rank that fails ends the job: the others get SIGTERM and, kGrace later, SIGKILL. So does
// the job's time, when it is over. Signals from outside go to all ranks; a second one that asks for
// the end is SIGKILL.
class Course {
 public:
  static constexpr Nanos kGrace = std::chrono::seconds(5);
  static constexpr int kTimeoutCode = 124;  // as timeout(1) has it

  // For messages: the number of a process, and its ranks.
  struct Member {
    int process = 0;
    std::vector<int> ranks{};
  };

  // The job may last for `limit` from now on.
  Course(std::vector<Member> members, Nanos now, Nanos limit);

  // Members are counted from 0 here.
  void on_end(int member, End end, Nanos now);
  void on_signal(int signal, Nanos now);
  void on_time(Nanos now);

  // The signals for all ranks that still run, since the last call.
  std::vector<int> take_signals();
  // What is to be said, since the last call.
  std::optional<Error> take_finding();
  // When on_time() is due.
  Nanos next_time() const;
  bool running(int member) const { return running_[static_cast<std::size_t>(member)]; }
  bool over() const;
  // Of the first rank that failed; 0 when all ranks have ended well.
  int exit_code() const;

 private:
  std::vector<int> ranks_that_run(bool run = true) const;  // or that have ended
  void end_all(Nanos now);

  std::vector<Member> members_;
  std::size_t ranks_ = 0;
  std::vector<bool> running_;
  Nanos limit_;
  Nanos deadline_;
  Nanos kill_at_ = kForever;
  bool timed_out_ = false;
  bool asked_to_end_ = false;
  std::optional<End> failure_;
  std::vector<int> signals_;
  std::optional<Error> finding_;
};

}  // namespace commrig::cli::run
