// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/operation.h"

#include <utility>

#include "comm/circle.h"

namespace commrig::comm {

using device::Progress;

Result<Progress> Operation::step() {
  Team& team = endpoint_.team();
  if (!begun_ && !endpoint_.has_turn(issue_) && !team.abort().raised()) return Progress::kPending;
  if (!failing_.begun()) {
    Result<Progress> progress = try_to_go_on();
    if (progress.has_value()) {
      if (*progress == Progress::kDone) end();
      return progress;
    }
    failing_.begin(team, progress.error());
  }
  Result<Progress> progress = failing_.step(team, endpoint_.rank(), outbox_);
  if (!progress.has_value()) end();
  return progress;
}

Result<Progress> Operation::try_to_go_on() {
  const AbortFlag& abort = endpoint_.team().abort();
  if (abort.raised()) return *abort.error();
  if (!std::exchange(begun_, true)) COMMRIG_TRY(begin());
  Result<Progress> progress = go_on();
  const bool lost = !progress && progress.error().code == Code::kPeerLost;
  const bool pending = progress.has_value() && *progress == Progress::kPending;
  if (!lost && !pending) return progress;
  // A rank that fails ends the others, and may itself be gone by now: then it isn't the cause.
  if (auto failure = endpoint_.team().failure_elsewhere()) return *std::move(failure);
  return progress;
}

bool Operation::may_go_on() const {
  if (failing_.begun()) return failing_.may_go_on(endpoint_.team(), endpoint_.rank());
  if (endpoint_.team().abort().raised()) return true;
  return begun_ ? has_come() : endpoint_.has_turn(issue_);
}

bool Operation::waits_for_works() const {
  return endpoint_.team().all_local();
}

// One that is behind others of its rank leaves it to the first.
std::string Operation::describe_wait() const {
  if (!begun_ || failing_.begun()) return {};
  return comm::describe_wait(endpoint_.team(), endpoint_.rank());
}

void Operation::give_up(const Error& error) {
  endpoint_.team().fail(error);
}

void Operation::cancel(const Error& reason) {
  endpoint_.team().fail(reason);
  end();
}

void Operation::end() {
  finish();
  endpoint_.await({});
  endpoint_.end_turn();
  endpoint_.team().stir();
}

}  // namespace commrig::comm
