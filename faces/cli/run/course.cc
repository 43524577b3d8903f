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

std::string describe(const End& end, std::size_t ranks) {
  if (end.by_signal) {
    return fmt::format("{} killed by {}", ranks == 1 ? "was" : "were", signal_name(end.number));
  }
  return fmt::format("ended with exit code {}", end.number);
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

Course::Course(std::vector<Member> members, Nanos now, Nanos limit)
    : members_(std::move(members)),
      running_(members_.size(), true),
      limit_(limit),
      deadline_(limit >= kForever - now ? kForever : now + limit) {
  for (const Member& each : members_) ranks_ += each.ranks.size();
}

void Course::on_end(int member, End end, Nanos now) {
  const auto m = static_cast<std::size_t>(member);
  running_[m] = false;
  if (end.exit_code() == 0 || failure_ || timed_out_) return;
  failure_ = end;
  const std::vector<int> others = ranks_that_run();
  finding_ =
      Error::make(Code::kPeerLost,
                  fmt::format("{} of {} (process {}) {}{}", bootstrap::rank_list(members_[m].ranks),
                              ranks_, members_[m].process, describe(end, members_[m].ranks.size()),
                              others.empty() ? "" : "; ending " + bootstrap::rank_list(others)));
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
      const std::vector<int> gone = ranks_that_run(false);
      finding_ = Error::make(
          Code::kDeadline,
          fmt::format("{} of {} still run after {:g} s{}", bootstrap::rank_list(ranks_that_run()),
                      ranks_, std::chrono::duration<double>(limit_).count(),
                      gone.empty() ? "" : "; ended well: " + bootstrap::rank_list(gone)));
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

std::vector<int> Course::ranks_that_run(bool run) const {
  std::vector<int> ranks;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (running_[m] == run)
      ranks.insert(ranks.end(), members_[m].ranks.begin(), members_[m].ranks.end());
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
