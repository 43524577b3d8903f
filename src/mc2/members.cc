// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/members.h"

#include <algorithm>
#include <utility>

namespace commrig::mc2 {

bool operator==(const RankWaits& a, const RankWaits& b) {
  return a.launches == b.launches && a.able == b.able &&
         std::ranges::equal(a.asleep, b.asleep, {}, &WaitPost::View::turn, &WaitPost::View::turn);
}

Members::Members(int ranks, Hooks hooks) : hooks_(std::move(hooks)) {
  state_.lock()->members.resize(static_cast<std::size_t>(ranks));
}

void Members::on_block_start(const device::KernelContext& context) {
  std::optional<Finding> wrong;
  {
    const auto state = state_.lock();
    MemberState& member = state->members.at(static_cast<std::size_t>(context.rank()));
    if (member.unstarted == 0) {
      // The other blocks wait for the lock, so the kernel has done nothing yet.
      if (member.running == 0) wrong = hooks_.check_start(context.rank());
      ++member.launches;
      member.unstarted = context.blocks();
      member.error.reset();
    }
    --member.unstarted;
    ++member.running;
    state->running.push_back(&context);
    running_.fetch_add(1, std::memory_order_acq_rel);
  }
  if (wrong.has_value()) hooks_.report(*std::move(wrong));
}

void Members::on_block_end(const device::KernelContext& context, const Status& status) {
  {
    const auto state = state_.lock();
    MemberState& member = state->members.at(static_cast<std::size_t>(context.rank()));
    --member.running;
    if (!status && !member.error.has_value()) member.error = status.error();
    std::erase(state->running, &context);
    running_.fetch_sub(1, std::memory_order_acq_rel);
  }
  hooks_.ring();
}

void Members::on_blocked() {
  const int blocked = blocked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (blocked < running_.load(std::memory_order_acquire)) return;
  // Those who were woken and have not got a core yet still count as blocked.
  if (!anyone_can_go_on()) hooks_.ring();
}

void Members::on_host_sleeps() {
  if (all_blocked() && !anyone_can_go_on()) hooks_.ring();
}

// Whoever can go on stays the one that is found first until he runs, so this is short as a rule.
bool Members::anyone_can_go_on() const {
  const auto state = state_.lock();
  const std::size_t count = state->running.size();
  for (std::size_t looked = 0; looked < count; ++looked) {
    const std::size_t at = (state->able + looked) % count;
    if (state->running[at]->post().stuck()) continue;
    state->able = at;
    return true;
  }
  return false;
}

void Members::on_resumed() {
  blocked_.fetch_sub(1, std::memory_order_acq_rel);
}

std::vector<MemberState> Members::states() const {
  return state_.lock()->members;
}

std::uint64_t Members::launches(int rank) const {
  return state_.lock()->members.at(static_cast<std::size_t>(rank)).launches;
}

bool Members::all_blocked() const {
  const int running = running_.load(std::memory_order_acquire);
  return running > 0 && blocked_.load(std::memory_order_acquire) >= running;
}

std::vector<RankWaits> Members::waits() const {
  const auto state = state_.lock();
  std::vector<RankWaits> all(state->members.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].launches = state->members[rank].launches;
    all[rank].able = state->members[rank].unstarted;
  }
  for (const device::KernelContext* context : state->running) {
    RankWaits& rank = all[static_cast<std::size_t>(context->rank())];
    std::optional<WaitPost::View> view = context->post().look();
    if (view.has_value() && !view->condition.satisfied()) {
      rank.asleep.push_back(std::move(*view));
    } else {
      ++rank.able;
    }
  }
  return all;
}

}  // namespace commrig::mc2
