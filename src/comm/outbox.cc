// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/outbox.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace commrig::comm {

void Outbox::add(transport::Link& link, const transport::Outgoing& message, std::size_t place) {
  letters_.push_back({.link = &link, .message = message, .place = place});
}

void Outbox::each(FunctionRef<bool(std::size_t)> visit) const {
  for (const Letter& letter : letters_) {
    if (!visit(letter.place)) return;
  }
}

// A letter waits behind an earlier one to the same peer.
Result<transport::Progress> Outbox::advance() {
  std::vector<const transport::Link*> blocked;
  for (auto letter = letters_.begin(); letter != letters_.end();) {
    const bool waits = std::ranges::find(blocked, letter->link) != blocked.end();
    if (!waits) {
      COMMRIG_ASSIGN(const transport::Progress progress, letter->link->send(letter->message));
      if (progress == transport::Progress::kDone) {
        letter = letters_.erase(letter);
        continue;
      }
      blocked.push_back(letter->link);
    }
    ++letter;
  }
  return letters_.empty() ? transport::Progress::kDone : transport::Progress::kPending;
}

bool Outbox::abandon() {
  for (auto letter = letters_.begin(); letter != letters_.end();) {
    letter->link->abort();
    const Result<transport::Progress> progress = letter->link->send(letter->message);
    const bool pending = progress.has_value() && *progress == transport::Progress::kPending;
    letter = pending ? std::next(letter) : letters_.erase(letter);
  }
  return letters_.empty();
}

}  // namespace commrig::comm
