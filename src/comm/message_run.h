// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "comm/endpoint.h"
#include "comm/failing.h"
#include "comm/outbox.h"
#include "device/work.h"

namespace commrig::comm {

// A message between two ranks, as one of them calls it.
struct Message {
  bool outgoing = false;
  int peer = 0;
  void* data = nullptr;  // of an outgoing one never written
  std::size_t bytes = 0;
};

// Messages that are under way together: those to one peer, and those from one peer, are in order.
class MessageRun final : public device::Work {
 public:
  MessageRun(Endpoint& endpoint, std::vector<Message> messages);
  ~MessageRun() override = default;

  Result<device::Progress> step() override;
  bool may_go_on() const override;
  void cancel(const Error& reason) override;

 private:
  struct Expected {
    transport::Link* link;
    transport::Incoming message;
  };
  Result<bool> begin();
  Result<device::Progress> go_on();
  Status advance_inbox();
  void finish();

  Endpoint& endpoint_;
  std::vector<Message> messages_;
  const std::uint64_t issue_;
  bool begun_ = false;
  Outbox outbox_;
  std::list<Expected> inbox_;  // a link may keep the address of its message
  std::size_t at_ = 0;         // the first message that is not in a box yet
  Failing failing_;
};

}  // namespace commrig::comm
