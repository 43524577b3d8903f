// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/roster.h"

#include <cstddef>

#include <fmt/format.h>

namespace commrig::bootstrap {

Result<std::vector<Roster::Answer>> Roster::check_in(const CheckIn& record,
                                                     const std::string& from) {
  if (entries_.empty()) {
    entries_.resize(static_cast<std::size_t>(record.ranks));
    first_ = fmt::format("rank {} at {}", record.rank, from);
  }
  if (record.ranks != ranks()) {
    return Error::make(Code::kSetupMismatch,
                       fmt::format("rank {} at {} counts {} ranks, {} counts {}", record.rank, from,
                                   record.ranks, first_, ranks()));
  }
  std::optional<Entry>& entry = entries_[static_cast<std::size_t>(record.rank)];
  if (entry) {
    return Error::make(Code::kRankTwice,
                       fmt::format("rank {} of {} has come twice: from {} and from {}", record.rank,
                                   ranks(), entry->from, from));
  }
  entry = Entry{record, from};
  ++present_;

  std::vector<Answer> due;
  const int previous = (record.rank + ranks() - 1) % ranks();
  for (const int rank : {previous, record.rank}) {
    if (!has(rank) || !was_due(rank)) continue;
    const auto& next = entries_[static_cast<std::size_t>((rank + 1) % ranks())];
    due.push_back(Answer{rank, answer_to(rank), next->record.info});
    if (ranks() == 1) break;  // It is its own neighbour on both sides.
  }
  return due;
}

std::vector<int> Roster::missing() const {
  std::vector<int> missing;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!has(rank)) missing.push_back(rank);
  }
  return missing;
}

}  // namespace commrig::bootstrap
