// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/fixture_for_test.h"
#include "bootstrap/root.h"

namespace commrig::bootstrap {
namespace {

TEST(Ring, EveryRankGetsEveryBlockForEachNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    SCOPED_TRACE(ranks);
    ThreadExecutor executor;
    const auto root = *Root::open(executor);
    run_ranks(executor, ranks, [&](int rank) {
      const auto ring = join_ring(executor, root->id(), rank, ranks);
      ASSERT_TRUE(ring) << ring.error().message;
      int round = 0;
      for (const std::size_t bytes : {1U, 4U, 136U, 0U, 300'000U}) {
        EXPECT_EQ(gather_and_compare(**ring, bytes, round++), "") << rank << " " << bytes;
        EXPECT_TRUE((*ring)->barrier());
      }
    });
    EXPECT_TRUE(root->wait_served());
  }
}

}  // namespace
}  // namespace commrig::bootstrap
