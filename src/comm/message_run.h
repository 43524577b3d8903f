// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "base/function_ref.h"
#include "comm/operation.h"

namespace commrig::comm {

// A message between two ranks, as one of them calls it.
struct Message {
  bool outgoing = false;
  int peer = 0;
  void* data = nullptr;  // of an outgoing one never written
  std::size_t bytes = 0;
  // The receiver must expect the same, or say nothing.
  transport::Elements elements = transport::kUntyped;
};

// Messages that are under way together: those to one peer, and those from one peer, are in order.
class MessageRun final : public Operation {
 public:
  MessageRun(Endpoint& endpoint, std::vector<Message> messages);

 private:
  Status begin() override;
  void finish() override;
  Result<device::Progress> go_on() override;
  // Links say by their wakers that they may go on; a peer that leaves doesn't.
  bool has_come() const override { return gone_peer() >= 0; }

  struct Expected {
    transport::Link* link;
    transport::Incoming message;
    std::size_t place;  // among the messages
  };
  // Of the messages that are not done yet, in the order of the call, until `look` says false.
  void each_unfinished(FunctionRef<bool(std::size_t place)> look) const;
  int gone_peer() const;
  Error left(int peer) const;
  Result<bool> hand_to_links();
  Status advance_inbox();
  Awaited awaited() const;
  bool is_expected(std::size_t place) const;
  std::size_t unfinished() const;

  std::vector<Message> messages_;
  std::vector<std::uint32_t> numbers_;  // of each, see Mail
  std::size_t unfinished_ = 0;          // when the peers were last looked at
  bool done_ = false;
  std::list<Expected> inbox_;  // a link may keep the address of its message
  std::size_t at_ = 0;         // the first message that is not in a box yet
};

}  // namespace commrig::comm
