// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mc2/engine.h"

// What the server says when the ranks can no longer go on. All of it is found from events: the end
// of a kernel, or the moment when every kernel sleeps and the server has nothing left to do.
namespace commrig::mc2 {
namespace {

// An operation of one rank that has turns left.
struct Pending {
  int rank;
  std::uint32_t slot;
  std::uint64_t next_turn;
};

std::optional<Pending> pending_of(const Port& port) {
  const std::uint32_t slots = port.workspace().layout().slots;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const Port::Slot& state = port.slot(slot);
    if (!state.submission.has_value()) continue;
    const bool open = state.done < state.submission->turns || state.done < state.committed;
    if (open) return Pending{port.rank(), slot, state.done + 1};
  }
  return std::nullopt;
}

// "ranks 0,1 wait for turn 2 of slot 0"
std::string waiting_text(const std::vector<int>& ranks, const Pending& pending) {
  return fmt::format("rank{} {} wait{} for turn {} of slot {}", ranks.size() == 1 ? "" : "s",
                     fmt::join(ranks, ","), ranks.size() == 1 ? "s" : "", pending.next_turn,
                     pending.slot);
}

// What rank `port` has not done for the pending turn: submitted the message, or committed.
Finding missing_step(Code code, const Port& port, const Pending& pending) {
  const Workspace& workspace = port.workspace();
  const Port::Slot& state = port.slot(pending.slot);
  Finding finding{.code = code, .rank = port.rank(), .slot = static_cast<int>(pending.slot)};
  if (state.submission.has_value()) {
    finding.field = "commitTurnCnt.cnt";
    finding.offset = static_cast<std::int64_t>(workspace.commit_count_at(pending.slot));
    finding.expected = fmt::format("at least {}", pending.next_turn);
    finding.found = std::to_string(state.committed);
  } else {
    finding.field = "sendMsgs.valid";
    finding.offset = static_cast<std::int64_t>(workspace.message_valid_at(pending.slot));
    finding.expected = "a message";
    finding.found = "none";
  }
  return finding;
}

// Words of the protocol by their names, everything else by its address.
std::string wait_text(const BlockedWait& wait, const Port& port) {
  const Workspace& workspace = port.workspace();
  const auto address = reinterpret_cast<std::uintptr_t>(wait.view.condition.address);
  const auto base = reinterpret_cast<std::uintptr_t>(workspace.window().base());
  std::string word = fmt::format("a word at {:#x}", address);
  for (std::uint32_t slot = 0; slot < workspace.layout().slots; ++slot) {
    if (address == base + workspace.finished_count_at(slot))
      word = fmt::format("finishedTurnCnt[{}]", slot);
    if (address == base + workspace.message_valid_at(slot))
      word = fmt::format("sendMsgs[{}].valid", slot);
  }
  const char* relation = wait.view.condition.compare == Compare::kAtLeast ? ">="
                         : wait.view.condition.compare == Compare::kEqual ? "=="
                                                                          : "!=";
  return fmt::format("rank {} waits for {} ({} {} {}, found {})", wait.rank, wait.view.what, word,
                     relation, wait.view.condition.value, wait.view.condition.found());
}

bool same_waits(const std::vector<BlockedWait>& a, const std::vector<BlockedWait>& b) {
  return std::ranges::equal(a, b, [](const BlockedWait& x, const BlockedWait& y) {
    return x.rank == y.rank && x.view.turn == y.view.turn;
  });
}

}  // namespace

void Engine::diagnose(const std::vector<MemberState>& members) {
  if (!find_straggler()) find_leaver(members);
  if (!failed_ && members_.all_blocked()) find_stall();
}

// A rank that has finalized its kernel while another rank's operation of the same kernel is open.
bool Engine::find_straggler() {
  std::uint64_t newest = 0;
  for (const Port& port : ports_) newest = std::max(newest, port.epoch());
  const auto ahead = std::ranges::find(ports_, newest, &Port::epoch);
  std::vector<int> waiting;
  std::optional<Pending> pending;
  for (const Port& port : ports_) {
    if (port.epoch() == newest) continue;
    const std::optional<Pending> open = pending_of(port);
    if (!open.has_value()) continue;
    waiting.push_back(port.rank());
    if (!pending.has_value()) pending = open;
  }
  if (!pending.has_value()) return false;
  const Port& other = ports_[static_cast<std::size_t>(pending->rank)];
  const Message& message = other.slot(pending->slot).submission->message;
  const Workspace& workspace = ahead->workspace();
  fail({.code = Code::kGroupMismatch,
        .rank = ahead->rank(),
        .slot = static_cast<int>(pending->slot),
        .field = "commType",
        .offset = static_cast<std::int64_t>(workspace.layout().message_at(pending->slot)),
        .expected = std::string(name(message.command)),
        .found = std::string(name(Command::kFinalize)),
        .detail = waiting_text(waiting, *pending)});
  return true;
}

void Engine::find_leaver(const std::vector<MemberState>& members) {
  for (const Port& port : ports_) {
    const MemberState& member = members[static_cast<std::size_t>(port.rank())];
    // Each kernel that takes part finalizes once; fewer answers than kernels: this one did not.
    const bool left = member.running == 0 && member.launches > port.epoch();
    if (left && name_leaver(port, members)) return;
  }
}

bool Engine::name_leaver(const Port& leaver, const std::vector<MemberState>& members) {
  const MemberState& member = members[static_cast<std::size_t>(leaver.rank())];
  const auto runs = [](const MemberState& each) { return each.running != 0; };
  std::vector<int> waiting;
  std::optional<Pending> pending;
  for (const Port& port : ports_) {
    const std::optional<Pending> open = pending_of(port);
    if (!open.has_value() || port.epoch() != leaver.epoch()) continue;
    if (port.rank() != leaver.rank()) waiting.push_back(port.rank());
    if (!pending.has_value()) pending = open;
  }
  Finding finding{.rank = leaver.rank()};
  if (pending.has_value()) finding = missing_step(finding.code, leaver, *pending);
  if (member.error.has_value()) {
    finding.code = Code::kRankThrew;
    finding.detail = "its kernel ended with: " + to_string(*member.error);
  } else if (!waiting.empty()) {
    finding.code = Code::kRankLeft;
    finding.detail = "its kernel returned";
  } else if (leaver.has_submitted() && std::ranges::none_of(members, runs)) {
    finding.code = Code::kNoFinalize;
    finding.expected = "a finalize message";
    finding.found = "the end of the kernel";
  } else {
    return false;  // Nobody needs it so far; who still runs may yet.
  }
  if (!waiting.empty()) finding.detail += "; " + waiting_text(waiting, *pending);
  fail(std::move(finding));
  return true;
}

// Called when every running kernel seems to sleep. Names the step that is missing, unless something
// moves after all, or a rank whose kernel does not run might still come.
void Engine::find_stall() {
  const std::optional<std::vector<BlockedWait>> before = members_.stuck();
  if (!before.has_value()) return;
  mark_all();
  if (scan() || serve_due(false) || failed_) return;
  // The same waits as before the last look at the workspaces: nobody wrote anything meanwhile.
  const std::optional<std::vector<BlockedWait>> after = members_.stuck();
  if (!after.has_value() || !same_waits(*before, *after)) return;
  std::optional<Pending> pending;
  for (const Port& port : ports_) {
    if (!pending.has_value()) pending = pending_of(port);
  }
  Finding finding{.code = Code::kStalled, .rank = after->front().rank};
  if (pending.has_value()) {
    // The rank that is behind most; one that has not even submitted is behind all others.
    const auto progress = [&](const Port& port) {
      const Port::Slot& state = port.slot(pending->slot);
      return state.submission.has_value() ? static_cast<std::int64_t>(state.committed) : -1;
    };
    finding =
        missing_step(Code::kStalled, *std::ranges::min_element(ports_, {}, progress), *pending);
  }
  std::vector<std::string> texts;
  for (const BlockedWait& wait : *after) {
    texts.push_back(wait_text(wait, ports_[static_cast<std::size_t>(wait.rank)]));
  }
  finding.detail = fmt::format("{}", fmt::join(texts, "; "));
  fail(std::move(finding));
}

}  // namespace commrig::mc2
