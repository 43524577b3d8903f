// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "base/guarded.h"
#include "base/result.h"
#include "device/kernel.h"

namespace commrig::mc2 {

// What is known of one rank's kernel.
struct MemberState {
  int running = 0;             // blocks inside the kernel function
  int unstarted = 0;           // blocks of the newest kernel that are still to start
  std::uint64_t launches = 0;  // kernels whose first block has started
  std::optional<Error> error;  // what the last kernel to end failed with

  bool runs() const { return running != 0 || unstarted != 0; }
};

// What the blocks of one rank's kernel wait for.
struct RankWaits {
  std::uint64_t launches = 0;
  int able = 0;                        // blocks that can go on
  std::vector<WaitPost::View> asleep;  // waits of the others, none of them satisfied

  bool runs() const { return able != 0 || !asleep.empty(); }
  bool all_asleep() const { return able == 0 && !asleep.empty(); }
  // The same waits of the same kernel: nobody has moved from one look to the other.
  friend bool operator==(const RankWaits& a, const RankWaits& b);
};

// The kernels of a group: who started, who ended and how, who waits for what. Kernels report on
// their own threads; the server asks. Thread-safe. Every change that the server may have to look at
// calls the hook `ring`.
class Members final : public device::KernelObserver {
 public:
  struct Hooks {
    std::function<void()> ring;
    // What the server says to a rank whose kernel starts, before any of its blocks does anything.
    // Called under a lock; must not come back.
    std::function<std::optional<Finding>(int rank)> check_start;
    std::function<void(Finding)> report;
  };
  Members(int ranks, Hooks hooks);

  void on_block_start(const device::KernelContext& context) override;
  void on_block_end(const device::KernelContext& context, const Status& status) override;
  void on_blocked() override;
  void on_resumed() override;

  // The host's threads go to sleep: rings if all kernels sleep too.
  void on_host_sleeps();

  std::vector<MemberState> states() const;
  std::uint64_t launches(int rank) const;
  // Whether every running block sleeps in a wait.
  bool all_blocked() const;
  // One entry a rank.
  std::vector<RankWaits> waits() const;

 private:
  struct State {
    std::vector<MemberState> members;
    std::vector<const device::KernelContext*> running;
    std::size_t able = 0;  // where in `running` somebody who could go on was found last
  };
  bool anyone_can_go_on() const;
  Hooks hooks_;
  std::atomic<int> running_{0};
  std::atomic<int> blocked_{0};
  Guarded<State> state_;
};

}  // namespace commrig::mc2
