// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <commrig/commrig.h>

#include <functional>
#include <thread>
#include <vector>

// Runs body(communicator) on a thread for each rank. A rank that fails ends the waits of the
// others. Returns whether all succeeded.
inline bool run_ranks(std::vector<commrig::Communicator>& comms,
                      const std::function<bool(commrig::Communicator&)>& body) {
  std::vector<char> good(comms.size());
  std::vector<std::thread> threads;  // tidy: allow(thread) as a program of a user has them
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    threads.emplace_back([&, rank] {
      good[rank] = body(comms[rank]);
      if (!good[rank]) comms[rank].abort();
    });
  }
  bool all = true;
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    threads[rank].join();
    all = all && good[rank];
  }
  return all;
}
