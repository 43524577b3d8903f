// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/message_run.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "comm/circle.h"
#include "comm/tally.h"

namespace commrig::comm {

using device::Progress;

MessageRun::MessageRun(Endpoint& endpoint, std::vector<Message> messages)
    : Operation(endpoint), messages_(std::move(messages)) {}

// The peers see from now on what they may wait for.
Status MessageRun::begin() {
  Team& team = endpoint().team();
  team.look_for_circles(endpoint().rank());
  numbers_.reserve(messages_.size());
  for (const Message& message : messages_) {
    Mail& mail = team.mail(endpoint().rank(), message.peer);
    std::atomic<std::uint32_t>& counter = message.outgoing ? mail.sends : mail.receives;
    numbers_.push_back(counter.fetch_add(1, std::memory_order_seq_cst) + 1);
  }
  return ok();
}

void MessageRun::finish() {
  if (!done_) return;
  for (const Message& message : messages_) {
    if (message.outgoing) process_tally().add_message(message.bytes);
  }
}

Result<Progress> MessageRun::go_on() {
  const int gone = gone_peer();  // looked at first: what it has sent is there then
  COMMRIG_ASSIGN(const bool all_handed, hand_to_links());
  COMMRIG_ASSIGN(const transport::Progress sent, outbox().advance());
  COMMRIG_TRY(advance_inbox());
  done_ = all_handed && sent == transport::Progress::kDone && inbox_.empty();
  if (done_) return Progress::kDone;
  if (gone >= 0 && gone_peer() == gone) return left(gone);
  const bool came_further = std::exchange(unfinished_, unfinished()) != unfinished_;
  if (endpoint().await(awaited()) || came_further) {
    if (const auto circle = find_circle(endpoint().team(), endpoint().rank())) return *circle;
  }
  return Progress::kPending;
}

void MessageRun::each_unfinished(FunctionRef<bool(std::size_t place)> look) const {
  for (const Expected& expected : inbox_) {
    if (!look(expected.place)) return;
  }
  bool goes_on = true;
  outbox().each([&](std::size_t place) { return goes_on = look(place); });
  for (std::size_t place = at_; goes_on && place < messages_.size(); ++place) goes_on = look(place);
}

std::size_t MessageRun::unfinished() const {
  std::size_t count = 0;
  each_unfinished([&count](std::size_t) {
    ++count;
    return true;
  });
  return count;
}

// A peer that has left while a message of its link is under way; -1: none. A link that isn't there
// yet may still be on its way to us, whatever has become of the peer.
int MessageRun::gone_peer() const {
  int gone = -1;
  const auto look = [this, &gone](std::size_t place) {
    const int peer = messages_[place].peer;
    if (endpoint().team().is_gone(peer)) gone = peer;
    return gone < 0;
  };
  for (const Expected& expected : inbox_) {
    if (!look(expected.place)) return gone;
  }
  outbox().each(look);
  return gone;
}

Error MessageRun::left(int peer) const {
  Team& team = endpoint().team();
  const Life life = team.board(peer).life.now.load(std::memory_order_acquire);
  if (team.has_failed(peer)) return team.failure_of(peer);
  const char* const how = life == Life::kDead ? "died" : "left the communicator";
  return Error::make(Code::kPeerLeft,
                     fmt::format("rank {} waits for a message to or from rank {}, which has {}",
                                 endpoint().rank(), peer, how));
}

// Whether the peer has begun the operation in which it is the other end.
bool MessageRun::is_expected(std::size_t place) const {
  const Message& message = messages_[place];
  Team& team = endpoint().team();
  if (team.find_board(message.peer) == nullptr) return true;  // nobody knows
  const Mail& mail = team.mail(message.peer, endpoint().rank());
  const std::uint32_t begun =
      (message.outgoing ? mail.receives : mail.sends).load(std::memory_order_seq_cst);
  return static_cast<std::int32_t>(begun - numbers_[place]) >= 0;
}

// The first message that has to wait for a later operation of its peer.
Awaited MessageRun::awaited() const {
  std::size_t found = messages_.size();
  const auto look = [this, &found](std::size_t place) {
    if (!is_expected(place)) found = place;
    return found == messages_.size();
  };
  each_unfinished(look);
  if (found == messages_.size()) return {};
  return {.kind = messages_[found].outgoing ? Awaited::Kind::kSend : Awaited::Kind::kReceive,
          .peer = messages_[found].peer,
          .number = numbers_[found]};
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
      outbox().add(*link, {.data = data, .bytes = message.bytes, .elements = message.elements},
                   at_);
    } else {
      inbox_.push_back(
          {link, {.data = data, .bytes = message.bytes, .elements = message.elements}, at_});
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
        Mail& mail = endpoint().team().mail(endpoint().rank(), messages_[expected->place].peer);
        mail.received.fetch_add(1, std::memory_order_seq_cst);
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
