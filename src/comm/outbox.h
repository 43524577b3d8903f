// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <list>

#include "base/function_ref.h"
#include "base/result.h"
#include "transport/link.h"

namespace commrig::comm {

// Messages that have begun to be sent, to any number of peers. Not thread-safe.
class Outbox {
 public:
  // `place` is the caller's, for each().
  void add(transport::Link& link, const transport::Outgoing& message, std::size_t place = 0);

  // Sends what can be sent now; kDone when all is sent.
  Result<transport::Progress> advance();
  bool empty() const { return letters_.empty(); }

  // Calls visit(place) for what is still here until it returns false.
  void each(FunctionRef<bool(std::size_t)> visit) const;

  // Ends the links of what is still here; true once nobody reads it any more.
  bool abandon();

 private:
  struct Letter {
    transport::Link* link;
    transport::Outgoing message;
    std::size_t place;
  };
  std::list<Letter> letters_;  // of one link in order; a link may keep the address of its message
};

}  // namespace commrig::comm
