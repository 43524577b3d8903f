// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/failing.h"

namespace commrig::comm {

void Failing::begin(Team& team, const Error& error) {
  team.fail(error);
  const std::optional<Error> first = team.abort().error();
  error_ = first.value_or(error);
}

bool Failing::may_go_on(Team& team, int rank) const {
  for (int peer = 0; peer < team.ranks(); ++peer) {
    const Board* const board = team.find_board(peer);
    if (board == nullptr || peer == rank) continue;
    if (board->life.now.load(std::memory_order_acquire) == Life::kDead) continue;
    if (board->state.touching.load(std::memory_order_seq_cst) != 0) return false;
  }
  return true;
}

Result<device::Progress> Failing::step(Team& team, int rank, Outbox& outbox) const {
  if (!outbox.abandon() || !may_go_on(team, rank)) return device::Progress::kPending;
  return *error_;
}

}  // namespace commrig::comm
