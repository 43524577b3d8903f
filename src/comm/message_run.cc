// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/message_run.h"

#include <algorithm>

namespace commrig::comm {

using device::Progress;

MessageRun::MessageRun(Endpoint& endpoint, std::vector<Message> messages)
    : endpoint_(endpoint), messages_(std::move(messages)), issue_(endpoint.next_issue()) {}

Result<Progress> MessageRun::step() {
  if (!begun_ && !endpoint_.has_turn(issue_)) return Progress::kPending;
  Team& team = endpoint_.team();
  Result<Progress> progress = Progress::kPending;
  if (const std::optional<Error> error = team.abort().error()) {
    progress = *error;
  } else {
    progress = go_on();
  }
  if (progress.has_value() && *progress == Progress::kPending) return progress;
  if (!progress.has_value()) {
    team.fail(progress.error());
    if (const std::optional<Error> first = team.abort().error()) progress = *first;
  }
  finish();
  return progress;
}

Result<Progress> MessageRun::go_on() {
  if (!begun_) COMMRIG_TRY(begin());
  COMMRIG_ASSIGN(const transport::Progress sent, outbox_.advance());
  COMMRIG_TRY(advance_inbox());
  const bool done = sent == transport::Progress::kDone && inbox_.empty();
  return done ? Progress::kDone : Progress::kPending;
}

Status MessageRun::begin() {
  begun_ = true;
  for (const Message& message : messages_) {
    COMMRIG_ASSIGN(transport::Link* const link,
                   endpoint_.team().link(endpoint_.rank(), message.peer));
    auto* const data = static_cast<std::byte*>(message.data);
    if (message.outgoing) {
      outbox_.add(*link, data, message.bytes);
    } else {
      inbox_.push_back({link, {.data = data, .bytes = message.bytes}});
    }
  }
  return ok();
}

Status MessageRun::advance_inbox() {
  std::vector<const transport::Link*> blocked;
  for (auto expected = inbox_.begin(); expected != inbox_.end();) {
    if (std::ranges::find(blocked, expected->link) == blocked.end()) {
      COMMRIG_ASSIGN(const transport::Progress received,
                     expected->link->recv(expected->message));
      if (received == transport::Progress::kDone) {
        expected = inbox_.erase(expected);
        continue;
      }
      blocked.push_back(expected->link);
    }
    ++expected;
  }
  return ok();
}

bool MessageRun::may_go_on() const {
  return endpoint_.team().abort().raised() || (!begun_ && endpoint_.has_turn(issue_));
}

void MessageRun::cancel(const Error& reason) {
  endpoint_.team().fail(reason);
  if (begun_ || endpoint_.has_turn(issue_)) finish();
}

void MessageRun::finish() {
  endpoint_.end_turn();
  endpoint_.team().stir();
}

}  // namespace commrig::comm
