// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/message_run.h"

#include <algorithm>

namespace commrig::comm {

using device::Progress;

MessageRun::MessageRun(Endpoint& endpoint, std::vector<Message> messages)
    : endpoint_(endpoint), messages_(std::move(messages)), issue_(endpoint.next_issue()) {}

Result<Progress> MessageRun::step() {
  Team& team = endpoint_.team();
  if (!begun_ && !endpoint_.has_turn(issue_) && !team.abort().raised()) return Progress::kPending;
  begun_ = true;
  if (!failing_.begun()) {
    Result<Progress> progress = go_on();
    if (progress.has_value()) {
      if (*progress == Progress::kDone) finish();
      return progress;
    }
    failing_.begin(team, progress.error());
  }
  Result<Progress> progress = failing_.step(team, endpoint_.rank(), outbox_);
  if (!progress.has_value()) finish();
  return progress;
}

Result<Progress> MessageRun::go_on() {
  const AbortFlag& abort = endpoint_.team().abort();
  if (abort.raised()) return *abort.error();
  COMMRIG_ASSIGN(const bool all_begun, begin());
  COMMRIG_ASSIGN(const transport::Progress sent, outbox_.advance());
  COMMRIG_TRY(advance_inbox());
  const bool done = all_begun && sent == transport::Progress::kDone && inbox_.empty();
  return done ? Progress::kDone : Progress::kPending;
}

// Whether every message has a link. One whose link isn't there yet keeps those behind it waiting;
// that peer makes the link whatever becomes of them.
Result<bool> MessageRun::begin() {
  for (; at_ < messages_.size(); ++at_) {
    const Message& message = messages_[at_];
    COMMRIG_ASSIGN(transport::Link* const link,
                   endpoint_.team().link(endpoint_.rank(), message.peer));
    if (link == nullptr) return false;
    auto* const data = static_cast<std::byte*>(message.data);
    if (message.outgoing) {
      outbox_.add(*link, data, message.bytes);
    } else {
      inbox_.push_back({link, {.data = data, .bytes = message.bytes}});
    }
  }
  return true;
}

Status MessageRun::advance_inbox() {
  std::vector<const transport::Link*> blocked;
  for (auto expected = inbox_.begin(); expected != inbox_.end();) {
    if (std::ranges::find(blocked, expected->link) == blocked.end()) {
      COMMRIG_ASSIGN(const transport::Progress received, expected->link->recv(expected->message));
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
  if (failing_.begun()) return failing_.may_go_on(endpoint_.team(), endpoint_.rank());
  return endpoint_.team().abort().raised() || (!begun_ && endpoint_.has_turn(issue_));
}

void MessageRun::cancel(const Error& reason) {
  endpoint_.team().fail(reason);
  finish();
}

void MessageRun::finish() {
  endpoint_.end_turn();
  endpoint_.team().stir();
}

}  // namespace commrig::comm
