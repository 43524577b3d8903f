// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/engine.h"

#include <algorithm>
#include <bit>

#include "base/log.h"

namespace commrig::mc2 {
namespace {

// A turn that moves more than this takes longer than waking the server's thread does (20 to 30 us).
constexpr std::uint64_t kHandOverBytes = 1024 * 1024;
// From here on a turn is shared between the cores that have nothing else to do.
constexpr std::uint64_t kShareBytes = 1024 * 1024;

}  // namespace

Engine::Engine(device::Machine& machine, std::vector<Workspace> workspaces, Members& members,
               AbortFlag& abort, std::function<void()> hand_over)
    : machine_(machine),
      readiness_(workspaces.front().layout().slots, static_cast<std::uint32_t>(workspaces.size())),
      members_(members),
      abort_(abort),
      hand_over_(std::move(hand_over)),
      submissions_(workspaces.size()),
      finished_words_(workspaces.size()) {
  const auto ranks = static_cast<std::uint32_t>(workspaces.size());
  COMMRIG_CHECK(ranks <= marked_.size() * 64, "more ranks than marks");
  ports_.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ports_.emplace_back(std::move(workspaces[rank]), machine.memory(), members,
                        static_cast<int>(rank), ranks, readiness_);
  }
}

Engine::~Engine() = default;

void Engine::serve(int rank, bool may_hand_over) {
  const auto number = static_cast<std::size_t>(rank);
  if (rank < 0 || number >= ports_.size()) return;
  marked_[number / 64].fetch_or(std::uint64_t{1} << number % 64, std::memory_order_acq_rel);
  run(may_hand_over);
}

void Engine::take_over() {
  run(false);
}

void Engine::look() {
  look_wanted_.store(true, std::memory_order_release);
  run(false);
}

void Engine::run(bool may_hand_over) {
  strand_.run([&] { do_what_is_due(may_hand_over); });
}

void Engine::do_what_is_due(bool may_hand_over) {
  if (failed_) return;
  const bool look = look_wanted_.exchange(false, std::memory_order_acq_rel);
  if (!look) {
    while (advance(may_hand_over)) {
    }
    return;
  }
  if (const std::optional<Finding> finding = *given_up_.lock()) return fail(*finding);
  handed_over_ = false;  // Whoever took it over is here, or has left it to this thread.
  // Asked before the last look at the workspaces: what an ended kernel has written is then seen.
  const std::vector<MemberState> members = members_.states();
  mark_all();
  while (advance(may_hand_over)) {
  }
  for (Port& port : ports_) {
    port.check_used();
    if (!failed_ && port.finding().has_value()) fail(*port.finding());
  }
  if (!failed_) diagnose(members);
}

// Both every time; false when neither did anything.
bool Engine::advance(bool may_hand_over) {
  const bool scanned = scan();
  const bool served = serve_due(may_hand_over);
  return scanned || served;
}

void Engine::mark_all() {
  for (std::size_t rank = 0; rank < ports_.size(); ++rank) {
    marked_[rank / 64].fetch_or(std::uint64_t{1} << rank % 64, std::memory_order_relaxed);
  }
}

// Takes what is new in the workspaces of the marked ranks; false when nothing was.
bool Engine::scan() {
  bool progressed = false;
  for (std::size_t word = 0; word * 64 < ports_.size() && !failed_; ++word) {
    std::uint64_t marked = marked_[word].exchange(0, std::memory_order_acq_rel);
    for (; marked != 0; marked &= marked - 1) {
      Port& port = ports_[word * 64 + static_cast<std::size_t>(std::countr_zero(marked))];
      const std::uint64_t messages = port.messages();
      progressed |= port.scan();
      messages_.fetch_add(port.messages() - messages, std::memory_order_relaxed);
      if (!failed_ && port.finding().has_value()) fail(*port.finding());
    }
  }
  return progressed;
}

bool Engine::serve_due(bool may_hand_over) {
  readiness_.take_due(due_);
  bool progressed = false;
  std::vector<std::uint32_t> due;
  due.swap(due_);
  for (const std::uint32_t slot : due) {
    if (!failed_) progressed |= serve_slot(slot, may_hand_over);
  }
  return progressed;
}

// Whether all ranks are in the same kernel and have submitted this slot.
bool Engine::gather_submissions(std::uint32_t slot) {
  for (std::size_t rank = 0; rank < ports_.size(); ++rank) {
    const std::optional<Submission>& submission = ports_[rank].slot(slot).submission;
    if (!submission.has_value() || ports_[rank].epoch() != ports_.front().epoch()) return false;
    submissions_[rank] = &*submission;
  }
  return true;
}

bool Engine::check_slot(std::uint32_t slot) {
  const Layout& layout = ports_.front().workspace().layout();
  if (ports_.front().slot(slot).done != 0 && layout.carries_repeat) return true;
  auto finding = check_agreement(submissions_, layout, static_cast<int>(slot));
  if (!finding) finding = check_separation(submissions_, layout, static_cast<int>(slot));
  if (finding) fail(std::move(*finding));
  return !failed_;
}

bool Engine::serve_slot(std::uint32_t slot, bool may_hand_over) {
  std::uint64_t committed = ports_.front().slot(slot).committed;
  for (const Port& port : ports_) committed = std::min(committed, port.slot(slot).committed);
  const std::uint64_t done = ports_.front().slot(slot).done;
  if (committed <= done || !gather_submissions(slot)) return false;
  if (!check_slot(slot)) return false;
  for (std::uint64_t turn = done + 1; turn <= committed; ++turn) {
    const TurnWork work(submissions_, turn - 1);
    if (may_hand_over && work.bytes() >= kHandOverBytes && machine_.executor().spare_cores() > 0) {
      due_.push_back(slot);
      if (!handed_over_) hand_over_();
      handed_over_ = true;
      return turn > done + 1;
    }
    for (Port& port : ports_) {
      if (!port.check_finished(slot)) fail(*port.finding());
      if (failed_) return false;
    }
    if (!perform(slot, turn, work)) return false;
  }
  return true;
}

bool Engine::perform(std::uint32_t slot, std::uint64_t turn, const TurnWork& work) {
  const auto publish = [&](Phase phase) {
    if (!machine_.events().active()) return;
    machine_.events().publish({.time = machine_.executor().now(),
                               .name = kTurnEvent,
                               .phase = phase,
                               .a = slot,
                               .b = static_cast<std::int64_t>(turn)});
  };
  handed_over_ = false;
  publish(Phase::kBegin);
  const Status performed = perform_pieces(work);
  publish(Phase::kEnd);
  if (!performed) {
    fail({.code = performed.error().code,
          .slot = static_cast<int>(slot),
          .detail = performed.error().message});
    return false;
  }
  turns_.fetch_add(1, std::memory_order_relaxed);
  // What comes behind an operation that is over was not looked at so far.
  const bool over = turn >= submissions_.front()->turns;
  for (std::size_t rank = 0; rank < ports_.size(); ++rank) {
    Port& port = ports_[rank];
    port.finish(slot, turn);
    finished_words_[rank] = port.workspace().finished_word(slot);
    if (!failed_ && port.finding().has_value()) fail(*port.finding());
  }
  machine_.executor().wake_each(finished_words_);
  if (over) mark_all();
  return !failed_;
}

Status Engine::perform_pieces(const TurnWork& work) {
  const int spare = machine_.executor().spare_cores();
  if (work.bytes() < kShareBytes || spare < 2) {
    for (std::size_t piece = 0; piece < work.pieces(); ++piece) COMMRIG_TRY(work.perform(piece));
    return ok();
  }
  if (crew_ == nullptr) crew_ = std::make_unique<Crew>(machine_.executor(), spare - 1);
  Guarded<std::optional<Error>> first;
  crew_->run(work.pieces(), [&](std::size_t piece) {
    const Status status = work.perform(piece);
    if (status.has_value()) return;
    const auto error = first.lock();
    if (!error->has_value()) *error = status.error();
  });
  if (std::optional<Error> error = *first.lock()) return *std::move(error);
  return ok();
}

std::optional<Finding> Engine::check_start(int rank) const {
  return ports_.at(static_cast<std::size_t>(rank)).check_clear();
}

void Engine::give_up(Finding finding) {
  {
    const auto given_up = given_up_.lock();
    if (!given_up->has_value()) *given_up = std::move(finding);
  }
  look();
}

void Engine::fail(Finding finding) {
  failed_ = true;
  // Whoever gave up saw its cause first; what was found here may be a consequence of it.
  if (const auto given_up = given_up_.lock(); given_up->has_value()) finding = **given_up;
  log(LogLevel::kError, to_string(to_error(finding)));
  const Error error = to_error(finding);
  *finding_.lock() = std::move(finding);
  abort_.raise(error, machine_.executor());
}

}  // namespace commrig::mc2
