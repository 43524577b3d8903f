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

std::string number(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

// Where the layout's server looks at commits that are flagged, this one is not.
bool lacks_flag(const Workspace& workspace, std::uint32_t slot) {
  const Layout& layout = workspace.layout();
  const Result<std::uint64_t> flag = workspace.commit_valid(slot);
  return !layout.valid_word_triggers && flag.has_value() && *flag != layout.commit_valid;
}

// The word of the message that says that it is complete; 0 when the memory is gone.
std::uint32_t valid_word(const Workspace& workspace, std::uint32_t slot) {
  const Result<std::uint32_t> word = workspace.message_valid(slot);
  return word.has_value() ? *word : 0;
}

std::uint64_t commit_count(const Workspace& workspace, std::uint32_t slot) {
  const Result<std::uint64_t> count = workspace.commit_count(slot);
  return count.has_value() ? *count : 0;
}

// The first slot behind this one in which a message stands that was not taken, or was taken though
// it is not its turn.
std::optional<std::uint32_t> message_behind(const Port& port, std::uint32_t slot) {
  const Layout& layout = port.workspace().layout();
  for (std::uint32_t behind = slot + 1; behind < layout.slots; ++behind) {
    if (port.slot(behind).submission.has_value()) return behind;
    // Where the server does not mark them, messages of earlier kernels look the same.
    if (layout.marks_taken && valid_word(port.workspace(), behind) == layout.valid) return behind;
  }
  return std::nullopt;
}

bool is_finalize(const Workspace& workspace, std::uint32_t slot) {
  std::vector<std::byte> bytes(workspace.layout().message_bytes);
  Message message;
  return workspace.read_message(slot, bytes).has_value() &&
         !decode(workspace.layout(), bytes, Place{}, message).has_value() &&
         message.command == Command::kFinalize;
}

void name_flag(Finding& finding, const Workspace& workspace, std::uint32_t slot) {
  const Layout& layout = workspace.layout();
  finding.field = "commitTurnCnt.valid";
  finding.offset = static_cast<std::int64_t>(layout.commit_at(slot) + layout.counter_valid.offset);
  finding.expected = number(layout.commit_valid);
  const Result<std::uint64_t> flag = workspace.commit_valid(slot);
  finding.found = flag.has_value() ? number(*flag) : to_string(flag.error());
}

// A commit is missing.
Finding missing_commit(Code code, const Port& port, const Pending& pending) {
  const Workspace& workspace = port.workspace();
  const std::uint32_t slot = pending.slot;
  const std::uint64_t committed = port.slot(slot).committed;
  Finding finding{.code = code, .rank = port.rank(), .slot = static_cast<int>(slot)};
  if (commit_count(workspace, slot) > committed && lacks_flag(workspace, slot)) {
    name_flag(finding, workspace, slot);
    return finding;
  }
  finding.field = "commitTurnCnt.cnt";
  finding.offset = static_cast<std::int64_t>(workspace.commit_count_at(slot));
  finding.expected = fmt::format("at least {}", pending.next_turn);
  finding.found = std::to_string(committed);
  const std::optional<std::uint32_t> behind = message_behind(port, slot);
  if (behind.has_value() && is_finalize(workspace, *behind)) {
    if (code == Code::kStalled) finding.code = Code::kClientState;
    finding.detail = fmt::format(
        "the finalize message in slot {} came before the end of this operation", *behind);
  }
  return finding;
}

// A message is missing, or is not where or what the server takes for one.
Finding missing_message(Code code, const Port& port, const Pending& pending) {
  const Workspace& workspace = port.workspace();
  const Layout& layout = workspace.layout();
  const std::uint32_t slot = pending.slot;
  const std::uint32_t word = valid_word(workspace, slot);
  Finding finding{.code = code, .rank = port.rank(), .slot = static_cast<int>(slot)};
  if (word == layout.valid && lacks_flag(workspace, slot) && code != Code::kRankMissing) {
    // Such a message is taken once it was committed. An earlier kernel's count may still be there.
    if (port.epoch() == 0 && commit_count(workspace, slot) == 0) {
      return missing_commit(code, port, pending);
    }
    name_flag(finding, workspace, slot);
    return finding;
  }
  finding.field = "sendMsgs.valid";
  finding.offset = static_cast<std::int64_t>(workspace.message_valid_at(slot));
  finding.expected = "a message";
  const bool none = word == 0 || word == layout.valid || word == layout.valid_taken;
  finding.found = none ? "none" : number(word);
  if (!none) {
    finding.detail = fmt::format("the word of a message is {:#x}", layout.valid);
  } else if (const auto behind = message_behind(port, slot)) {
    if (code == Code::kStalled) finding.code = Code::kWrongSlot;
    finding.detail = fmt::format("its message stands in slot {}", *behind);
  } else if (layout.valid_word_triggers && commit_count(workspace, slot) != 0) {
    if (code == Code::kStalled) finding.code = Code::kClientState;
    finding.detail = "the slot was committed without a message";
  }
  return finding;
}

// What rank `port` has not done for the pending turn: submitted the message, or committed.
Finding missing_step(Code code, const Port& port, const Pending& pending) {
  return port.slot(pending.slot).submission.has_value() ? missing_commit(code, port, pending)
                                                        : missing_message(code, port, pending);
}

// The first slot that the rank's kernel has not used.
std::uint32_t next_slot(const Port& port) {
  std::uint32_t slot = 0;
  while (slot + 1 < port.workspace().layout().slots && port.slot(slot).submission.has_value()) {
    ++slot;
  }
  return slot;
}

// The first turn of the slot's operation that the rank has not committed.
std::optional<std::uint64_t> uncommitted_turn(const Port& port, std::uint32_t slot) {
  const Port::Slot& state = port.slot(slot);
  if (state.committed >= state.submission->turns) return std::nullopt;
  return state.committed + 1;
}

// The rank has not finalized the kernel before the one that the others are in.
Finding missing_finalize(Code code, const Port& port) {
  const Workspace& workspace = port.workspace();
  const std::uint32_t slot = next_slot(port);
  return {.code = code,
          .rank = port.rank(),
          .slot = static_cast<int>(slot),
          .field = "sendMsgs.valid",
          .offset = static_cast<std::int64_t>(workspace.message_valid_at(slot)),
          .expected = "a finalize message",
          .found = "none"};
}

void add_detail(Finding& finding, const std::string& text) {
  if (!finding.detail.empty() && !text.empty()) finding.detail += "; ";
  finding.detail += text;
}

// Words of the protocol by their names, everything else by its address.
std::string wait_text(const Port& port, const WaitPost::View& view) {
  const Workspace& workspace = port.workspace();
  const auto address = reinterpret_cast<std::uintptr_t>(view.condition.address);
  const auto base = reinterpret_cast<std::uintptr_t>(workspace.window().base());
  std::string word = fmt::format("a word at {:#x}", address);
  for (std::uint32_t slot = 0; slot < workspace.layout().slots; ++slot) {
    if (address == base + workspace.finished_count_at(slot))
      word = fmt::format("finishedTurnCnt[{}]", slot);
    if (address == base + workspace.message_valid_at(slot))
      word = fmt::format("sendMsgs[{}].valid", slot);
    if (address == base + workspace.commit_count_at(slot))
      word = fmt::format("commitTurnCnt[{}]", slot);
  }
  const char* relation = view.condition.compare == Compare::kAtLeast ? ">="
                         : view.condition.compare == Compare::kEqual ? "=="
                                                                     : "!=";
  return fmt::format("rank {} waits for {} ({} {} {}, found {})", port.rank(), view.what, word,
                     relation, view.condition.value, view.condition.found());
}

std::string waits_text(const std::vector<Port>& ports, const std::vector<RankWaits>& waits) {
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ports.size(); ++rank) {
    for (const WaitPost::View& view : waits[rank].asleep) {
      texts.push_back(wait_text(ports[rank], view));
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// The slot whose finished counter is waited for.
std::optional<std::uint32_t> awaited_slot(const Port& port, const WaitPost::View& view) {
  const Workspace& workspace = port.workspace();
  const std::byte* const base = workspace.window().base();
  for (std::uint32_t slot = 0; slot < workspace.layout().slots; ++slot) {
    if (view.condition.address == base + workspace.finished_count_at(slot)) return slot;
  }
  return std::nullopt;
}

// Why a wait of a rank all of whose blocks sleep can't end, whatever the other ranks do; nothing
// when it might.
std::optional<Finding> lost_wait(const Port& port, const WaitPost::View& view) {
  const std::optional<std::uint32_t> slot = awaited_slot(port, view);
  if (!slot.has_value() || view.condition.compare == Compare::kNotEqual) return std::nullopt;
  const Workspace& workspace = port.workspace();
  const Layout& layout = workspace.layout();
  const Port::Slot& state = port.slot(*slot);
  const std::uint64_t turn = view.condition.value;
  if (!state.submission.has_value()) {
    if (!layout.in_order || *slot <= port.position()) {
      if (layout.valid_word_triggers && valid_word(workspace, *slot) == layout.valid) return {};
      return missing_step(Code::kStalled, port, {port.rank(), *slot, 1});
    }
    // The slots before it come first. What they lack, the rank itself would have to bring.
    const std::uint32_t next = port.position();
    if (port.slot(next).submission.has_value()) return std::nullopt;
    if (valid_word(workspace, next) == layout.valid) return std::nullopt;
    return missing_step(Code::kStalled, port, {port.rank(), next, 1});
  }
  if (layout.carries_repeat && turn > state.submission->turns) {
    return Finding{.code = Code::kStalled,
                   .rank = port.rank(),
                   .slot = static_cast<int>(*slot),
                   .field = "finishedTurnCnt.cnt",
                   .offset = static_cast<std::int64_t>(workspace.finished_count_at(*slot)),
                   .expected = fmt::format("a wait for turn {} at most", state.submission->turns),
                   .found = fmt::format("a wait for turn {}", turn),
                   .detail = "the message has no such turn"};
  }
  const bool seen = !layout.in_order || *slot <= port.position();
  const std::uint64_t committed =
      seen ? state.committed : std::max(state.committed, commit_count(workspace, *slot));
  if (turn <= committed) return std::nullopt;
  return missing_step(Code::kStalled, port, {port.rank(), *slot, turn});
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
    const bool left = !member.runs() && member.launches > port.epoch();
    if (left && name_leaver(port, members)) return;
  }
}

bool Engine::name_leaver(const Port& leaver, const std::vector<MemberState>& members) {
  const MemberState& member = members[static_cast<std::size_t>(leaver.rank())];
  std::vector<int> waiting;
  std::optional<Pending> pending;
  std::optional<Pending> awaited;
  bool behind = false;
  for (const Port& port : ports_) {
    const std::optional<Pending> theirs = pending_of(port);
    if (!theirs.has_value() || port.epoch() < leaver.epoch()) continue;
    if (!pending.has_value()) pending = theirs;
    if (port.rank() != leaver.rank()) {
      waiting.push_back(port.rank());
      if (!awaited.has_value()) awaited = theirs;
    }
    behind |= port.epoch() > leaver.epoch();
  }
  // Its own turns come first. Those that it has committed will be done without it.
  const std::optional<Pending> own = pending_of(leaver);
  const std::optional<std::uint64_t> open =
      own.has_value() ? uncommitted_turn(leaver, own->slot) : std::nullopt;
  if (open.has_value()) {
    pending = Pending{leaver.rank(), own->slot, *open};
    behind = false;
  } else if (!pending.has_value() || own.has_value()) {
    pending = Pending{leaver.rank(), next_slot(leaver), 1};
  }
  const bool needed = open.has_value() || (!waiting.empty() && !own.has_value());
  Finding finding = behind ? missing_finalize(Code::kRankLeft, leaver)
                           : missing_step(Code::kRankLeft, leaver, *pending);
  if (member.error.has_value()) {
    finding.code = Code::kRankThrew;
    add_detail(finding, "its kernel ended with: " + to_string(*member.error));
  } else if (needed) {
    finding.code = Code::kRankLeft;
    add_detail(finding, "its kernel returned");
  } else if (!own.has_value() && leaver.has_submitted() &&
             std::ranges::none_of(members, &MemberState::runs)) {
    finding = missing_finalize(Code::kNoFinalize, leaver);
    finding.found = "the end of the kernel";
  } else {
    return false;  // Nobody needs it so far; who still runs may yet.
  }
  if (!waiting.empty()) add_detail(finding, waiting_text(waiting, *awaited));
  fail(std::move(finding));
  return true;
}

// Called when every running kernel seems to sleep: names why they can't go on, unless something
// moves after all or somebody might still come.
void Engine::find_stall() {
  const std::vector<RankWaits> before = members_.waits();
  mark_all();
  if (scan() || serve_due(false) || failed_) return;
  // What sleeps before and after has not seen anything new in the workspaces, so nothing has come.
  if (find_foreign_wait(before) || find_lost_wait(before)) return;
  if (!is_stalled(before)) return;
  // A kernel may have ended since the last look at the members.
  find_leaver(members_.states());
  if (!failed_) name_stalled(before);
}

// A rank that waits for a word in another rank's workspace was given the wrong context.
bool Engine::find_foreign_wait(const std::vector<RankWaits>& waits) {
  for (const Port& port : ports_) {
    for (const WaitPost::View& view : waits[static_cast<std::size_t>(port.rank())].asleep) {
      const auto* const word = static_cast<const std::byte*>(view.condition.address);
      const auto holds = [word](const Port& other) {
        const std::byte* const base = other.workspace().window().base();
        return word >= base && word < base + other.workspace().layout().end;
      };
      const auto owner = std::ranges::find_if(ports_, holds);
      if (owner == ports_.end() || owner->rank() == port.rank()) continue;
      if (members_.waits()[static_cast<std::size_t>(port.rank())] !=
          waits[static_cast<std::size_t>(port.rank())]) {
        continue;
      }
      fail({.code = Code::kBadContext,
            .rank = port.rank(),
            .field = "workSpace",
            .expected = fmt::format("{}", fmt::ptr(port.workspace().window().base())),
            .found = fmt::format("{}", fmt::ptr(owner->workspace().window().base())),
            .detail = fmt::format("its kernel waits in the workspace of rank {}: {}", owner->rank(),
                                  wait_text(*owner, view))});
      return true;
    }
  }
  return false;
}

// A rank whose kernel sleeps and would have to go on first.
bool Engine::find_lost_wait(const std::vector<RankWaits>& waits) {
  for (const Port& port : ports_) {
    const RankWaits& rank = waits[static_cast<std::size_t>(port.rank())];
    if (!rank.all_asleep()) continue;
    std::optional<Finding> first;
    bool all_lost = true;
    for (const WaitPost::View& view : rank.asleep) {
      std::optional<Finding> lost = lost_wait(port, view);
      all_lost &= lost.has_value();
      if (!first.has_value()) first = std::move(lost);
    }
    if (!all_lost || members_.waits()[static_cast<std::size_t>(port.rank())] != rank) continue;
    add_detail(*first, waits_text(ports_, waits));
    fail(*std::move(first));
    return true;
  }
  return false;
}

// Whether all kernels that run have slept since `waits`, and no other will come: either all ranks
// have one, or nobody is left who could launch one.
bool Engine::is_stalled(const std::vector<RankWaits>& waits) const {
  const auto sleeps = [](const RankWaits& rank) { return !rank.runs() || rank.all_asleep(); };
  const auto running = static_cast<std::size_t>(std::ranges::count_if(waits, &RankWaits::runs));
  if (running == 0 || !std::ranges::all_of(waits, sleeps)) return false;
  if (running < ports_.size() && !machine_.host_waits(running)) return false;
  return members_.waits() == waits;
}

void Engine::name_stalled(const std::vector<RankWaits>& waits) {
  std::optional<Pending> pending;
  for (const Port& port : ports_) {
    if (!pending.has_value()) pending = pending_of(port);
  }
  const auto first = std::ranges::find_if(waits, &RankWaits::runs);
  Finding finding{.code = Code::kStalled, .rank = static_cast<int>(first - waits.begin())};
  if (pending.has_value()) {
    // The rank that is behind most; one that has not even submitted is behind all others.
    const std::uint64_t epoch = ports_[static_cast<std::size_t>(pending->rank)].epoch();
    const auto progress = [&](const Port& port) {
      const Port::Slot& state = port.slot(pending->slot);
      if (port.epoch() != epoch || !state.submission.has_value()) return std::int64_t{-1};
      return static_cast<std::int64_t>(state.committed);
    };
    const Port& last = *std::ranges::min_element(ports_, {}, progress);
    const bool runs = waits[static_cast<std::size_t>(last.rank())].runs();
    const Code code = runs ? Code::kStalled : Code::kRankMissing;
    finding =
        last.epoch() < epoch ? missing_finalize(code, last) : missing_step(code, last, *pending);
    if (!runs) add_detail(finding, "no kernel of this rank runs, and nobody is left to launch one");
  }
  add_detail(finding, waits_text(ports_, waits));
  fail(std::move(finding));
}

}  // namespace commrig::mc2
