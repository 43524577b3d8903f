// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/strand.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace commrig {
namespace {

TEST(Strand, JobRunsOnTheCallersThreadWhenNobodyIsInside) {
  Strand strand;
  int runs = 0;
  strand.run([&] { ++runs; });
  strand.run([&] { ++runs; });
  EXPECT_EQ(runs, 2);
}

TEST(Strand, RequestFromInsideAnotherThreadsJobMakesItRunAgain) {
  Strand strand;
  int runs = 0;
  strand.run([&] {
    if (++runs > 1) return;
    std::thread([&] { strand.run([] { FAIL() << "two threads are inside"; }); }).join();
  });
  EXPECT_EQ(runs, 2);
}

// `sum` is no atomic: the strand alone keeps its writers apart and orders them.
TEST(Strand, EveryRequestIsSeenByAJobThatStartsAfterIt) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 20000;
  Strand strand;
  std::atomic<int> asked{0};
  int sum = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRequests; ++i) {
        asked.fetch_add(1, std::memory_order_relaxed);
        strand.run([&] { sum += asked.exchange(0, std::memory_order_relaxed); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, kThreads * kRequests);
}

}  // namespace
}  // namespace commrig
