// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "bootstrap/exchange.h"

namespace commrig::bootstrap {

// Runs `body(rank)` for every rank on a thread of its own, and waits for all.
inline void run_ranks(ThreadExecutor& executor, int ranks,
                      const std::function<void(int rank)>& body) {
  std::atomic<int> left{ranks};
  for (int rank = 0; rank < ranks; ++rank) {
    const Status spawned = executor.spawn(Role::kUserCode, "rank", [&, rank, &pool = executor] {
      body(rank);
      if (left.fetch_sub(1) == 1) pool.wake(&left);
    });
    ASSERT_TRUE(spawned) << spawned.error().message;
  }
  ASSERT_TRUE(executor.wait({.key = &left, .ready = [&] { return left.load() == 0; }}));
}

// What rank `rank` gives to an exchange: differs for each rank, size and round.
inline std::vector<std::byte> own_block(int rank, std::size_t bytes, int round) {
  std::vector<std::byte> block(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    block[i] = static_cast<std::byte>(static_cast<std::size_t>(rank) * 37 + i * 11 + i / 256 +
                                      static_cast<std::size_t>(round) * 101);
  }
  return block;
}

// One all-gather whose result is compared with what every rank gives; empty, or what is wrong.
inline std::string gather_and_compare(Exchange& exchange, std::size_t bytes, int round) {
  const auto ranks = static_cast<std::size_t>(exchange.ranks());
  std::vector<std::byte> blocks(ranks * bytes, std::byte{0xEE});
  std::vector<std::byte> expected;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    const auto block = own_block(rank, bytes, round);
    expected.insert(expected.end(), block.begin(), block.end());
    if (rank == exchange.rank()) {
      std::copy(block.begin(), block.end(), blocks.begin() + rank * static_cast<long>(bytes));
    }
  }
  const Status status = exchange.all_gather(blocks, bytes);
  if (!status) return status.error().message;
  return blocks == expected ? "" : "blocks differ";
}

}  // namespace commrig::bootstrap
