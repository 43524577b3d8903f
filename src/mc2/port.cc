// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/port.h"

#include <limits>

#include <fmt/format.h>

#include "mc2/side_message.h"

namespace commrig::mc2 {

Port::Port(Workspace workspace, const device::Memory& memory, const Members& members, int rank,
           std::uint32_t ranks, Readiness& readiness)
    : workspace_(std::move(workspace)),
      layout_(workspace_.layout()),
      memory_(memory),
      members_(members),
      readiness_(readiness),
      rank_(rank),
      ranks_(ranks),
      slots_(layout_.slots),
      bytes_(layout_.message_bytes) {}

bool Port::fail(Finding finding) {
  if (!finding_.has_value()) finding_ = std::move(finding);
  return false;
}

bool Port::scan() {
  if (finding_.has_value()) return false;
  const Result<bool> scanned = layout_.in_order ? scan_in_order() : scan_any_order();
  if (scanned.has_value()) return *scanned;
  return fail({.code = scanned.error().code, .rank = rank_, .detail = scanned.error().message});
}

Result<bool> Port::scan_in_order() {
  bool progressed = false;
  while (position_ < layout_.slots && !finding_.has_value()) {
    const std::uint32_t slot = position_;
    if (!slots_[slot].submission.has_value()) {
      COMMRIG_ASSIGN(const bool taken, take_message(slot));
      if (!taken) break;
      progressed = true;
      if (!slots_[slot].submission.has_value()) continue;  // It was a finalize.
    }
    COMMRIG_ASSIGN(const bool committed, take_commit(slot));
    progressed |= committed;
    if (slots_[slot].done < slots_[slot].submission->turns) break;
    ++position_;
    progressed = true;
  }
  return progressed;
}

void Port::check_used() {
  for (std::uint32_t slot = 0; slot < layout_.slots && !finding_.has_value(); ++slot) {
    if (!slots_[slot].submission.has_value()) continue;
    const Result<bool> right = check_used_slot(slot);
    if (!right) fail({.code = right.error().code, .rank = rank_, .detail = right.error().message});
  }
}

Result<bool> Port::check_used_slot(std::uint32_t slot) {
  if (!check_finished(slot) || !layout_.in_order) return true;  // There a scan looks at each slot.
  COMMRIG_TRY(take_commit(slot));
  COMMRIG_ASSIGN(const std::uint32_t valid, workspace_.message_valid(slot));
  if (valid != layout_.valid || finding_.has_value()) return true;
  return fail({.code = Code::kWrongSlot,
               .rank = rank_,
               .slot = static_cast<int>(slot),
               .field = "sendMsgs.valid",
               .offset = static_cast<std::int64_t>(workspace_.message_valid_at(slot)),
               .expected = fmt::format("{:#x}", layout_.valid_taken),
               .found = fmt::format("{:#x}", valid),
               .detail = "a second message in a slot that this kernel has used"});
}

bool Port::check_finished(std::uint32_t slot) {
  const std::uint64_t done = slots_[slot].done;
  // Nobody says that a kernel clears the counters where the server does not.
  if (done == 0 && !layout_.resets_commit_on_finalize) return true;
  const Result<std::uint64_t> count = workspace_.finished_count(slot);
  if (!count) {
    return fail({.code = count.error().code, .rank = rank_, .detail = count.error().message});
  }
  const std::uint64_t found = *count;
  if (found == done) return true;
  return fail({.code = Code::kCounter,
               .rank = rank_,
               .slot = static_cast<int>(slot),
               .field = "finishedTurnCnt.cnt",
               .offset = static_cast<std::int64_t>(workspace_.finished_count_at(slot)),
               .expected = std::to_string(done),
               .found = std::to_string(found),
               .detail = "the server alone writes it while the kernel runs"});
}

std::optional<Finding> Port::check_clear() const {
  if (!layout_.resets_commit_on_finalize) return std::nullopt;
  const auto found_at = [this](std::uint64_t offset) {
    return WordCondition{.address = workspace_.window().base() + offset}.found();
  };
  for (std::uint32_t slot = 0; slot < layout_.slots; ++slot) {
    const std::uint64_t commit = workspace_.commit_count_at(slot);
    const std::uint64_t finished = workspace_.finished_count_at(slot);
    if (found_at(commit) == 0 && found_at(finished) == 0) continue;
    const bool committed = found_at(commit) != 0;
    const std::uint64_t offset = committed ? commit : finished;
    return Finding{.code = Code::kCounter,
                   .rank = rank_,
                   .slot = static_cast<int>(slot),
                   .field = committed ? "commitTurnCnt.cnt" : "finishedTurnCnt.cnt",
                   .offset = static_cast<std::int64_t>(offset),
                   .expected = "0",
                   .found = std::to_string(found_at(offset)),
                   .detail = "a kernel starts, and an earlier one has left this"};
  }
  return std::nullopt;
}

Result<bool> Port::scan_any_order() {
  bool progressed = false;
  for (std::uint32_t slot = 0; slot < layout_.slots && !finding_.has_value(); ++slot) {
    COMMRIG_ASSIGN(const bool taken, take_flagged_commit(slot));
    progressed |= taken;
  }
  return progressed;
}

// The message and the counter of a layout whose messages carry their own valid word.
Result<bool> Port::take_message(std::uint32_t slot) {
  COMMRIG_ASSIGN(const std::uint32_t valid, workspace_.message_valid(slot));
  if (valid != layout_.valid) return false;
  COMMRIG_ASSIGN(const std::optional<Message> message, read_message(slot));
  if (!message.has_value()) return false;
  Submission submission{.message = *message, .turns = message->repeat};
  COMMRIG_ASSIGN(const bool complete, read_table(slot, submission));
  if (!complete) return false;
  if (layout_.marks_taken) COMMRIG_TRY(workspace_.set_message_valid(slot, layout_.valid_taken));
  if (message->command == Command::kFinalize) return take_finalize(slot);
  return accept(slot, std::move(submission));
}

Result<bool> Port::take_commit(std::uint32_t slot) {
  COMMRIG_ASSIGN(const std::uint64_t count, workspace_.commit_count(slot));
  return set_committed(slot, count);
}

// The layout in which a commit's valid word is what makes the server look.
Result<bool> Port::take_flagged_commit(std::uint32_t slot) {
  COMMRIG_ASSIGN(const std::uint64_t flagged, workspace_.commit_valid(slot));
  if (flagged != layout_.commit_valid) return false;
  // Cleared before the count is read: a commit made meanwhile is either in the count or flagged
  // again.
  if (layout_.clears_commit_valid) COMMRIG_TRY(workspace_.set_commit_valid(slot, 0));
  workspace_.accessor().fence();
  COMMRIG_ASSIGN(const std::uint64_t count, workspace_.commit_count(slot));
  if (!slots_[slot].submission.has_value()) {
    COMMRIG_ASSIGN(const std::uint32_t valid, workspace_.message_valid(slot));
    if (valid != layout_.valid) {
      return fail({.code = Code::kClientState,
                   .rank = rank_,
                   .slot = static_cast<int>(slot),
                   .field = "msgValid",
                   .offset = static_cast<std::int64_t>(workspace_.message_valid_at(slot)),
                   .expected = fmt::format("{:#x}", layout_.valid),
                   .found = fmt::format("{:#x}", valid),
                   .detail = "the slot was committed without a message"});
    }
    COMMRIG_ASSIGN(const std::optional<Message> message, read_message(slot));
    if (!message.has_value()) return false;
    if (message->command == Command::kFinalize) return take_finalize(slot);
    if (!accept(slot, Submission{.message = *message, .turns = count})) return false;
  }
  return set_committed(slot, count);
}

// A private copy of the message, decoded. A wrong check word is looked at twice: the first copy may
// have been torn by a writer that is not as careful as it should be.
Result<std::optional<Message>> Port::read_message(std::uint32_t slot) {
  Message message;
  std::optional<Finding> finding;
  for (int look = 0; look < 2; ++look) {
    COMMRIG_TRY(workspace_.read_message(slot, bytes_));
    finding =
        decode(layout_, bytes_, message_place(layout_, rank_, static_cast<int>(slot)), message);
    if (!finding.has_value() || finding->code != Code::kCheckWord) break;
  }
  if (finding.has_value()) {
    fail(std::move(*finding));
    return std::optional<Message>();
  }
  return std::optional<Message>(message);
}

Result<bool> Port::read_table(std::uint32_t slot, Submission& submission) {
  if (submission.message.command != Command::kAllToAllV) return true;
  std::vector<std::byte> side(kSideMessageBytes);
  COMMRIG_TRY(workspace_.read_side_message(slot, side));
  submission.table = std::make_unique<SideMessage>();
  const Place place = side_message_place(layout_, rank_, static_cast<int>(slot));
  if (auto finding = decode_side(layout_, side, ranks_, place, *submission.table)) {
    return fail(std::move(*finding));
  }
  if (layout_.marks_taken) COMMRIG_TRY(workspace_.mark_side_taken(slot));
  return true;
}

// A message after the kernel has finalized, as the first of what would be its next kernel.
std::optional<Finding> Port::check_kernel(std::uint32_t slot, Command command) const {
  if (messages_in_epoch_ != 0) return std::nullopt;
  const std::uint64_t launches = members_.launches(rank_);
  // Without a launch, somebody who is no kernel of ours writes the workspace.
  if (launches == 0 || launches > epoch_) return std::nullopt;
  const Place place = message_place(layout_, rank_, static_cast<int>(slot));
  return Finder(layout_, place, Message{.command = command})
      .at(Code::kClientState, Part::kCommand, "the end of the kernel", std::string(name(command)),
          "the kernel has finalized before");
}

// What the messages of a kernel count: handles and sequence numbers, from 0.
std::optional<Finding> Port::check_order(std::uint32_t slot, const Message& message) const {
  if (!layout_.carries_repeat) return std::nullopt;
  const Place place = message_place(layout_, rank_, static_cast<int>(slot));
  const Finder finder(layout_, place, message);
  const auto number = static_cast<std::uint8_t>(messages_in_epoch_);
  const auto refuse = [&](Code code, Part part, int found) {
    return finder.at(code, part, std::to_string(number), std::to_string(found),
                     fmt::format("it is message {} of this kernel, counted from 0", number));
  };
  if (message.sequence != number) {
    return refuse(Code::kSequenceNumber, Part::kSequence, message.sequence);
  }
  if (message.handle != static_cast<std::int8_t>(number)) {
    return refuse(Code::kBadHandle, Part::kHandle, message.handle);
  }
  return std::nullopt;
}

bool Port::accept(std::uint32_t slot, Submission submission) {
  if (auto finding = check_kernel(slot, submission.message.command)) {
    return fail(std::move(*finding));
  }
  std::optional<Finding> disorder = check_order(slot, submission.message);
  ++messages_;
  ++messages_in_epoch_;
  const Place place = message_place(layout_, rank_, static_cast<int>(slot));
  if (auto finding = check_submission(submission, layout_, memory_, place, ranks_)) {
    return fail(std::move(*finding));
  }
  if (disorder.has_value()) return fail(std::move(*disorder));
  slots_[slot].submission = std::move(submission);
  return true;
}

bool Port::set_committed(std::uint32_t slot, std::uint64_t count) {
  Slot& state = slots_[slot];
  if (count == state.committed) return false;
  Submission& submission = *state.submission;
  Finding finding{.code = Code::kCommitAboveRepeat,
                  .rank = rank_,
                  .slot = static_cast<int>(slot),
                  .field = "commitTurnCnt.cnt",
                  .offset = static_cast<std::int64_t>(workspace_.commit_count_at(slot)),
                  .found = std::to_string(count)};
  if (count < state.committed) {
    finding.expected = fmt::format("at least {}", state.committed);
    finding.detail = "a commit counter went back";
    return fail(std::move(finding));
  }
  if (layout_.carries_repeat && count > submission.turns) {
    finding.expected = fmt::format("at most {}", submission.turns);
    return fail(std::move(finding));
  }
  // The device compares 16 bits of the counter.
  if (count > std::numeric_limits<std::uint16_t>::max()) {
    finding.expected = "at most 65535";
    return fail(std::move(finding));
  }
  if (!layout_.carries_repeat && count > submission.turns) {
    submission.turns = count;
    const Place place = message_place(layout_, rank_, static_cast<int>(slot));
    if (auto wrong = check_submission(submission, layout_, memory_, place, ranks_)) {
      return fail(std::move(*wrong));
    }
  }
  set_progress(slot, count, state.done);
  return true;
}

// The only place where these two change.
void Port::set_progress(std::uint32_t slot, std::uint64_t committed, std::uint64_t done) {
  Slot& state = slots_[slot];
  const bool was_ready = state.committed > state.done;
  state.committed = committed;
  state.done = done;
  const bool ready = committed > done;
  if (ready && !was_ready) readiness_.add(slot);
  if (was_ready && !ready) readiness_.remove(slot);
}

void Port::finish(std::uint32_t slot, std::uint64_t turns) {
  set_progress(slot, slots_[slot].committed, turns);
  const Status told = workspace_.set_finished_unwoken(slot, turns);
  if (!told.has_value()) {
    fail({.code = told.error().code, .rank = rank_, .detail = told.error().message});
  }
}

Result<bool> Port::take_finalize(std::uint32_t slot) {
  if (auto finding = check_kernel(slot, Command::kFinalize)) return fail(std::move(*finding));
  COMMRIG_TRY(answer_finalize(slot));
  return true;
}

Status Port::answer_finalize(std::uint32_t slot) {
  for (std::uint32_t used = 0; used < layout_.slots; ++used) {
    const Slot& state = slots_[used];
    if (!state.submission.has_value() || state.done == state.submission->turns) continue;
    fail({.code = Code::kClientState,
          .rank = rank_,
          .slot = static_cast<int>(used),
          .field = "finishedTurnCnt.cnt",
          .offset = static_cast<std::int64_t>(workspace_.finished_count_at(used)),
          .expected = std::to_string(state.submission->turns),
          .found = std::to_string(state.done),
          .detail = fmt::format(
              "the finalize message in slot {} came before the end of this operation", slot)});
    return ok();
  }
  if (layout_.resets_commit_on_finalize) {
    for (std::uint32_t used = 0; used < slot; ++used)
      COMMRIG_TRY(workspace_.set_commit_count(used, 0));
  }
  for (std::uint32_t each = 0; each < slots_.size(); ++each) {
    set_progress(each, 0, 0);
    slots_[each].submission.reset();
  }
  position_ = 0;
  messages_in_epoch_ = 0;
  ++epoch_;
  return workspace_.set_finished_count(slot, layout_.finalize_finish);
}

}  // namespace commrig::mc2
