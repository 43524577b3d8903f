// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/members.h"

#include <algorithm>
#include <utility>

namespace commrig::mc2 {

Members::Members(int ranks, std::function<void()> ring) : ring_(std::move(ring)) {
  state_.lock()->members.resize(static_cast<std::size_t>(ranks));
}

void Members::on_block_start(const device::KernelContext& context) {
  const auto state = state_.lock();
  MemberState& member = state->members.at(static_cast<std::size_t>(context.rank()));
  if (member.running++ == 0) ++member.launches;
  member.launched = true;
  member.error.reset();
  state->running.push_back(&context);
  running_.fetch_add(1, std::memory_order_acq_rel);
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
  ring_();
}

void Members::on_blocked() {
  const int blocked = blocked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (blocked < running_.load(std::memory_order_acquire)) return;
  // Those who were woken and have not got a core yet still count as blocked.
  if (!anyone_can_go_on()) ring_();
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

bool Members::all_blocked() const {
  const int running = running_.load(std::memory_order_acquire);
  return running > 0 && blocked_.load(std::memory_order_acquire) >= running;
}

std::optional<std::vector<BlockedWait>> Members::stuck() const {
  const auto state = state_.lock();
  const auto idle = [](const MemberState& member) { return member.running == 0; };
  if (std::ranges::any_of(state->members, idle)) return std::nullopt;
  std::vector<BlockedWait> waits;
  for (const device::KernelContext* context : state->running) {
    std::optional<WaitPost::View> view = context->post().look();
    if (!view.has_value() || view->condition.satisfied()) return std::nullopt;
    waits.push_back({context->rank(), std::move(*view)});
  }
  return waits;
}

}  // namespace commrig::mc2
