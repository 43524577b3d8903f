// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/crew.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread_executor.h"

namespace commrig {
namespace {

TEST(Crew, EveryPieceRunsOnceJobAfterJob) {
  ThreadExecutor executor;
  Crew crew(executor, 3);
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<std::atomic<int>> runs(count);
    crew.run(count, [&](std::size_t piece) { runs[piece].fetch_add(1); });
    for (const std::atomic<int>& each : runs) ASSERT_EQ(each.load(), 1);
  }
}

TEST(Crew, CallerAloneDoesEverythingWithoutHelpers) {
  ThreadExecutor executor;
  Crew crew(executor, 0);
  std::size_t sum = 0;
  crew.run(10, [&](std::size_t piece) { sum += piece; });
  EXPECT_EQ(sum, 45U);
}

TEST(Crew, WhatPiecesWroteIsSeenAfterTheJob) {
  ThreadExecutor executor;
  Crew crew(executor, 2);
  std::vector<int> values(64);
  for (int round = 1; round <= 200; ++round) {
    crew.run(values.size(), [&](std::size_t piece) { values[piece] += round; });
  }
  for (const int value : values) EXPECT_EQ(value, 200 * 201 / 2);
}

}  // namespace
}  // namespace commrig
