// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/abort.h"
#include "base/crew.h"
#include "base/events.h"
#include "base/finding.h"
#include "base/guarded.h"
#include "base/strand.h"
#include "device/machine.h"
#include "mc2/members.h"
#include "mc2/port.h"

namespace commrig::mc2 {

class TurnWork;

struct ServerCounts {
  std::uint64_t messages = 0;  // taken from all ranks, finalize messages not counted
  std::uint64_t turns = 0;     // performed, each for all ranks together
};

// Names of the events that a server publishes (Event::name). a: slot, b: turn, from 1.
inline constexpr const char* kTurnEvent = "mc2.turn";

// What a server does, on whatever thread asks for it: takes the messages that each rank's kernel
// submits, checks them, and performs the collectives turn by turn, once every rank has committed
// the turn. One thread at a time is at it; a request that comes meanwhile is left to that thread.
//
// The first thing that is wrong is kept as a finding, logged, and raised on the abort flag, so that
// everybody who waits in the group ends with it; nothing more is done after that.
class Engine {
 public:
  // One workspace a rank, each over an accessor that only the engine uses. `hand_over` is called
  // for a turn that is better performed beside the ranks; look() performs it. Everything must
  // outlive the engine; the members tell it which kernels run.
  Engine(device::Machine& machine, std::vector<Workspace> workspaces, Members& members,
         AbortFlag& abort, std::function<void()> hand_over);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Something may be new in this rank's workspace: does what can be done now. If the caller has
  // other things to do, a turn whose bytes take long is handed over as long as there is a core to
  // spare. Thread-safe, does not wait.
  void serve(int rank, bool may_hand_over);
  // Performs what was handed over, unless another thread has done so. Thread-safe.
  void take_over();
  // Looks at all workspaces and at what became of the kernels, and performs whatever is left.
  // Thread-safe.
  void look();
  // What stands in this rank's counters that must not when its kernel starts. Thread-safe as long
  // as no kernel of the rank runs; no wait, no access that is observed.
  std::optional<Finding> check_start(int rank) const;
  // Ends the group with this finding. Thread-safe.
  void give_up(Finding finding);

  // Thread-safe.
  std::optional<Finding> finding() const { return *finding_.lock(); }
  ServerCounts counts() const { return {messages_.load(), turns_.load()}; }

 private:
  void run(bool may_hand_over);
  void do_what_is_due(bool may_hand_over);
  bool advance(bool may_hand_over);
  bool scan();
  bool serve_due(bool may_hand_over);
  bool serve_slot(std::uint32_t slot, bool may_hand_over);
  bool check_slot(std::uint32_t slot);
  bool perform(std::uint32_t slot, std::uint64_t turn, const TurnWork& work);
  Status perform_pieces(const TurnWork& work);
  bool gather_submissions(std::uint32_t slot);
  void mark_all();
  void diagnose(const std::vector<MemberState>& members);
  bool find_straggler();
  void find_leaver(const std::vector<MemberState>& members);
  bool name_leaver(const Port& leaver, const std::vector<MemberState>& members);
  void find_stall();
  bool find_foreign_wait(const std::vector<RankWaits>& waits);
  bool find_lost_wait(const std::vector<RankWaits>& waits);
  bool is_stalled(const std::vector<RankWaits>& waits) const;
  void name_stalled(const std::vector<RankWaits>& waits);
  void fail(Finding finding);

  device::Machine& machine_;
  Readiness readiness_;
  std::vector<Port> ports_;
  Members& members_;
  AbortFlag& abort_;
  std::function<void()> hand_over_;
  Strand strand_;

  // Asked for by any thread; one bit a rank.
  std::array<std::atomic<std::uint64_t>, 4> marked_{};
  std::atomic<bool> look_wanted_{false};

  // Of the thread inside the strand.
  std::vector<const Submission*> submissions_;  // of the slot being served
  std::vector<const void*> finished_words_;     // of a turn that has ended
  std::vector<std::uint32_t> due_;              // slots
  std::unique_ptr<Crew> crew_;
  bool handed_over_ = false;
  bool failed_ = false;

  Guarded<std::optional<Finding>> given_up_;
  Guarded<std::optional<Finding>> finding_;
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> turns_{0};
};

}  // namespace commrig::mc2
