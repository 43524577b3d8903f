// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {

// Who has checked in with a root, and whose answer is due. Pure. Not thread-safe.
class Roster {
 public:
  struct Answer {
    int rank = 0;
    Address to;
    ConnectInfo next{};  // connect info of the next rank
  };

  // `from` names the connection in messages. Gives the answers that are due now: to a rank as soon
  // as its successor is known. Fails with kSetupMismatch or kRankTwice.
  Result<std::vector<Answer>> check_in(const CheckIn& record, const std::string& from);

  int ranks() const { return static_cast<int>(entries_.size()); }  // 0 before the first
  int present() const { return present_; }
  bool complete() const { return present_ != 0 && present_ == ranks(); }
  bool has(int rank) const { return entries_[static_cast<std::size_t>(rank)].has_value(); }
  // Whether the answer to `rank`, which has checked in, was due already.
  bool was_due(int rank) const { return has((rank + 1) % ranks()); }
  std::vector<int> missing() const;
  const Address& answer_to(int rank) const {
    return entries_[static_cast<std::size_t>(rank)]->record.answer_to;
  }

 private:
  struct Entry {
    CheckIn record;
    std::string from;
  };
  std::vector<std::optional<Entry>> entries_;
  int present_ = 0;
  std::string first_;  // who said how many ranks there are
};

}  // namespace commrig::bootstrap
