// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "device/kernel.h"

namespace commrig::mc2 {

// What is known of one rank's kernel.
struct MemberState {
  bool launched = false;       // a kernel of this rank has started at least once
  int running = 0;             // blocks inside the kernel function
  std::uint64_t launches = 0;  // kernels whose first block has started
  std::optional<Error> error;  // what the last kernel to end failed with
};

// A wait that does not go on by itself.
struct BlockedWait {
  int rank;
  WaitPost::View view;
};

// The kernels of a group: who started, who ended and how, who waits for what. Kernels report on
// their own threads; the server asks. Thread-safe. Every change that the server may have to look at
// calls `ring`.
class Members final : public device::KernelObserver {
 public:
  Members(int ranks, std::function<void()> ring);

  void on_block_start(const device::KernelContext& context) override;
  void on_block_end(const device::KernelContext& context, const Status& status) override;
  void on_blocked() override;
  void on_resumed() override;

  std::vector<MemberState> states() const;
  // Whether every running block sleeps in a wait.
  bool all_blocked() const;
  // The waits of all running blocks, when every rank's kernel runs, every block sleeps in a wait,
  // and none of the waits is satisfied; otherwise nothing. A rank whose kernel does not run,
  // because it has ended or was not launched yet, might still be launched and move the others.
  std::optional<std::vector<BlockedWait>> stuck() const;

 private:
  struct State {
    std::vector<MemberState> members;
    std::vector<const device::KernelContext*> running;
    std::size_t able = 0;  // where in `running` somebody who could go on was found last
  };
  bool anyone_can_go_on() const;
  std::function<void()> ring_;
  std::atomic<int> running_{0};
  std::atomic<int> blocked_{0};
  Guarded<State> state_;
};

}  // namespace commrig::mc2
