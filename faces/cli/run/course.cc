// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/course.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bootstrap/rank_list.h"

namespace commrig::cli::run {
namespace {

bool asks_for_the_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

std::string describe(const End& end) {
  if (end.by_signal) return fmt::format("was killed by {}", signal_name(end.number));
  return fmt::format("ended with exit code {}", end.number);
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

Course::Course(std::vector<int> processes, Nanos now, Nanos limit)
    : processes_(std::move(processes)),
      running_(processes_.size(), true),
      limit_(limit),
      deadline_(limit >= kForever - now ? kForever : now + limit) {}

void Course::on_end(int rank, End end, Nanos now) {
  const auto r = static_cast<std::size_t>(rank);
  running_[r] = false;
  if (end.exit_code() == 0 || failure_ || timed_out_) return;
  failure_ = end;
  const std::vector<int> others = still_running();
  finding_ = Error::make(
      Code::kPeerLost,
      fmt::format("rank {} of {} (process {}) {}{}", rank, running_.size(), processes_[r],
                  describe(end),
                  others.empty() ? "" : fmt::format("; ending {}", bootstrap::rank_list(others))));
  end_all(now);
}

void Course::on_signal(int signal, Nanos) {
  const bool ends = asks_for_the_end(signal);
  signals_.push_back(ends && asked_to_end_ ? SIGKILL : signal);
  asked_to_end_ = asked_to_end_ || ends;
}

void Course::on_time(Nanos now) {
  if (now >= deadline_ && !over()) {
    deadline_ = kForever;
    if (!failure_) {
      timed_out_ = true;
      finding_ = Error::make(
          Code::kDeadline,
          fmt::format("{} of {} still run after {:g} s", bootstrap::rank_list(still_running()),
                      running_.size(), std::chrono::duration<double>(limit_).count()));
      end_all(now);
    }
  }
  if (now >= kill_at_) {
    kill_at_ = kForever;
    signals_.push_back(SIGKILL);
  }
}

void Course::end_all(Nanos now) {
  signals_.push_back(SIGTERM);
  kill_at_ = now + kGrace;
}

std::vector<int> Course::still_running() const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < running_.size(); ++rank) {
    if (running_[rank]) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<int> Course::take_signals() {
  return std::exchange(signals_, {});
}

std::optional<Error> Course::take_finding() {
  return std::exchange(finding_, std::nullopt);
}

Nanos Course::next_time() const {
  return over() ? kForever : std::min(deadline_, kill_at_);
}

bool Course::over() const {
  return std::ranges::find(running_, true) == running_.end();
}

int Course::exit_code() const {
  if (timed_out_) return kTimeoutCode;
  return failure_ ? failure_->exit_code() : 0;
}

}  // namespace commrig::cli::run
