// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>

#include "comm/endpoint.h"
#include "comm/failing.h"
#include "comm/outbox.h"
#include "device/work.h"

namespace commrig::comm {

// What all operations of a rank have in common: each waits for its turn, goes on until it is done,
// and ends with an error only when nobody is at its buffers any more. Steps may be made by any
// thread, one at a time.
class Operation : public device::Work {
 public:
  Result<device::Progress> step() final;
  bool may_go_on() const final;
  bool waits_for_works() const final;
  std::string describe_wait() const final;
  void give_up(const Error& error) final;
  void cancel(const Error& reason) final;

 protected:
  // Takes the rank's next turn. The endpoint must outlive the operation.
  explicit Operation(Endpoint& endpoint) : endpoint_(endpoint), issue_(endpoint.next_issue()) {}

  // Called first, when the turn has come.
  virtual Status begin() { return ok(); }
  // Does what can be done now.
  virtual Result<device::Progress> go_on() = 0;
  // Whether go_on() would get further; only asked between begin() and the end.
  virtual bool has_come() const = 0;
  // Called last, whatever the outcome.
  virtual void finish() {}

  Endpoint& endpoint() const { return endpoint_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  bool failed() const { return failing_.begun(); }

 private:
  Result<device::Progress> try_to_go_on();
  void end();

  Endpoint& endpoint_;
  const std::uint64_t issue_;
  bool begun_ = false;
  Outbox outbox_;
  Failing failing_;
};

}  // namespace commrig::comm
