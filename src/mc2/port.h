// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/finding.h"
#include "device/memory.h"
#include "mc2/members.h"
#include "mc2/operation.h"
#include "mc2/workspace.h"

namespace commrig::mc2 {

// Counts the ranks that have committed more turns of a slot than were done. Used by one thread at a
// time, like the ports.
class Readiness {
 public:
  Readiness(std::uint32_t slots, std::uint32_t ranks) : ranks_(ranks), ready_(slots) {}

  void add(std::uint32_t slot) {
    if (++ready_[slot] == ranks_) due_.push_back(slot);
  }
  void remove(std::uint32_t slot) { --ready_[slot]; }
  // Appends the slots for which all ranks have become ready, each once.
  void take_due(std::vector<std::uint32_t>& due) {
    due.insert(due.end(), due_.begin(), due_.end());
    due_.clear();
  }

 private:
  std::uint32_t ranks_;
  std::vector<std::uint32_t> ready_;  // ranks, by slot
  std::vector<std::uint32_t> due_;
};

// The server's view of one rank's workspace: what the rank has submitted and committed, as far as
// the server has taken it. Used by one thread at a time.
class Port {
 public:
  struct Slot {
    std::optional<Submission> submission;
    std::uint64_t committed = 0;
    std::uint64_t done = 0;
  };

  // The references must outlive the port. The members know how many kernels the rank has started.
  Port(Workspace workspace, const device::Memory& memory, const Members& members, int rank,
       std::uint32_t ranks, Readiness& readiness);

  // Takes whatever is new in the workspace; true when something was. Answers a finalize message
  // that it finds. The first thing that is wrong ends up in finding().
  bool scan();

  // Looks at what scan() does not look at again: late commits of operations that are over, messages
  // in slots that were used, finished counters that only the server writes. What is wrong ends up
  // in finding().
  void check_used();

  // A counter that is not 0 though no kernel of the rank runs and the last one has finalized. Looks
  // at the words alone, so any thread may call it at such a time.
  std::optional<Finding> check_clear() const;

  // Whether the slot's finished counter still holds what finish() wrote last.
  bool check_finished(std::uint32_t slot);
  // The slot's operation is complete up to `turns`: writes it where the rank sees it. The caller
  // wakes who waits for it.
  void finish(std::uint32_t slot, std::uint64_t turns);

  const std::optional<Finding>& finding() const { return finding_; }
  const Slot& slot(std::uint32_t number) const { return slots_[number]; }
  // Where the next message is expected, in a layout that is served in order.
  std::uint32_t position() const { return position_; }
  // Kernels of this rank that have finalized.
  std::uint64_t epoch() const { return epoch_; }
  // Whether the current kernel has submitted anything.
  bool has_submitted() const { return messages_in_epoch_ != 0; }
  std::uint64_t messages() const { return messages_; }
  const Workspace& workspace() const { return workspace_; }
  int rank() const { return rank_; }

 private:
  Result<bool> scan_in_order();
  Result<bool> scan_any_order();
  Result<bool> take_message(std::uint32_t slot);
  Result<bool> take_commit(std::uint32_t slot);
  Result<bool> take_flagged_commit(std::uint32_t slot);
  Result<std::optional<Message>> read_message(std::uint32_t slot);
  Result<bool> read_table(std::uint32_t slot, Submission& submission);
  bool accept(std::uint32_t slot, Submission submission);
  std::optional<Finding> check_kernel(std::uint32_t slot, Command command) const;
  std::optional<Finding> check_order(std::uint32_t slot, const Message& message) const;
  Result<bool> check_used_slot(std::uint32_t slot);
  bool set_committed(std::uint32_t slot, std::uint64_t count);
  Result<bool> take_finalize(std::uint32_t slot);
  Status answer_finalize(std::uint32_t slot);
  void set_progress(std::uint32_t slot, std::uint64_t committed, std::uint64_t done);
  bool fail(Finding finding);

  Workspace workspace_;
  const Layout& layout_;
  const device::Memory& memory_;
  const Members& members_;
  Readiness& readiness_;
  int rank_;
  std::uint32_t ranks_;
  std::vector<Slot> slots_;
  std::vector<std::byte> bytes_;  // a message's private copy
  std::uint32_t position_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t messages_in_epoch_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace commrig::mc2
