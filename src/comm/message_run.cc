// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/message_run.h"

#include <algorithm>

namespace commrig::comm {

using device::Progress;

MessageRun::MessageRun(Endpoint& endpoint, std::vector<Message> messages)
    : Operation(endpoint), messages_(std::move(messages)) {}

Result<Progress> MessageRun::go_on() {
  COMMRIG_ASSIGN(const bool all_handed, hand_to_links());
  COMMRIG_ASSIGN(const transport::Progress sent, outbox().advance());
  COMMRIG_TRY(advance_inbox());
  const bool done = all_handed && sent == transport::Progress::kDone && inbox_.empty();
  return done ? Progress::kDone : Progress::kPending;
}

// Whether every message has a link. One whose link isn't there yet keeps those behind it waiting;
// that peer makes the link whatever becomes of them.
Result<bool> MessageRun::hand_to_links() {
  for (; at_ < messages_.size(); ++at_) {
    const Message& message = messages_[at_];
    COMMRIG_ASSIGN(transport::Link* const link,
                   endpoint().team().link(endpoint().rank(), message.peer));
    if (link == nullptr) return false;
    auto* const data = static_cast<std::byte*>(message.data);
    if (message.outgoing) {
      outbox().add(*link, data, message.bytes);
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

}  // namespace commrig::comm
