// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/door.h"
#include "transport/peer_memory.h"
#include "transport/segment.h"

namespace commrig::comm {

// Another process of this host that has ranks of the same communicator: its memory as we see it.
struct Neighbour {
  std::vector<int> ranks;  // the first one speaks for the process
  std::unique_ptr<transport::PeerMemory> memory;
  transport::Segment segment;  // boards and slots of its ranks
  std::atomic<bool> lost{false};

  // Wakes its threads if some sleep. After the fence that follows the writing of a flag.
  void ring_if_asleep() const {
    Door* const door = memory->door();
    if (door == nullptr || lost.load(std::memory_order_relaxed)) return;
    if (door->place.sleepers.load(std::memory_order_relaxed) != 0) ring(*door);
  }
};

}  // namespace commrig::comm
