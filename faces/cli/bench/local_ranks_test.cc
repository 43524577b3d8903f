// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/local_ranks.h"

#include <array>

#include <gtest/gtest.h>

namespace commrig::cli::bench {
namespace {

TEST(ShareOf, EveryRankIsInOneProcess) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (int processes = 1; processes <= ranks; ++processes) {
      int next = 0;
      for (int process = 0; process < processes; ++process) {
        const Share share = share_of(ranks, process, processes);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, ranks / processes);
        EXPECT_LE(share.count, ranks / processes + 1);
        next += share.count;
      }
      EXPECT_EQ(next, ranks);
    }
  }
}

TEST(LocalRanksTest, OneProcessOfAJobHasAllRanks) {
  const auto ranks = LocalRanks::join(bootstrap::Launch{}, 3, {});
  ASSERT_TRUE(ranks) << to_string(ranks.error());
  std::array<int, 3> seen{};
  EXPECT_TRUE((*ranks)->run([&](int rank) -> Status {
    seen.at(static_cast<std::size_t>(rank)) = (*ranks)->communicator(rank).ranks();
    return (*ranks)->communicator(rank).barrier();
  }));
  EXPECT_EQ(seen, (std::array{3, 3, 3}));
}

TEST(LocalRanksTest, RankThatFailsEndsTheOthersAndIsTheResult) {
  const auto ranks = LocalRanks::create(3, {});
  ASSERT_TRUE(ranks);
  const Status status = (*ranks)->run([&](int rank) -> Status {
    if (rank == 1) return Error::make(Code::kBadArgument, "rank 1 will not");
    return (*ranks)->communicator(rank).barrier();
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "rank 1 will not");
}

}  // namespace
}  // namespace commrig::cli::bench
