// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/roster.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "bootstrap/rank_list.h"

namespace commrig::bootstrap {
namespace {

CheckIn record_of(int rank, int ranks) {
  CheckIn record;
  record.rank = rank;
  record.ranks = ranks;
  record.answer_to = Address::loopback(AF_INET, static_cast<std::uint16_t>(1000 + rank));
  record.info = make_info(Address::loopback(AF_INET, static_cast<std::uint16_t>(2000 + rank)));
  return record;
}

TEST(Roster, EveryRankIsAnsweredOnceAsSoonAsItsSuccessorIsThere) {
  const std::uint64_t seed = seed_from_environment(20'250'303);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  for (int ranks = 1; ranks <= 40; ++ranks) {
    std::vector<int> order;
    for (int rank = 0; rank < ranks; ++rank) {
      order.insert(order.begin() + static_cast<long>(rng.below(order.size() + 1)), rank);
    }
    Roster roster;
    std::set<int> here;
    std::set<int> answered;
    for (const int rank : order) {
      const auto due = roster.check_in(record_of(rank, ranks), "somewhere");
      ASSERT_TRUE(due);
      here.insert(rank);
      for (const auto& answer : *due) {
        EXPECT_TRUE(answered.insert(answer.rank).second);
        EXPECT_EQ(answer.to.port(), 1000 + answer.rank);
        EXPECT_EQ(ring_address(answer.next)->port(), 2000 + (answer.rank + 1) % ranks);
      }
      for (int each = 0; each < ranks; ++each) {
        const bool expected = here.contains(each) && here.contains((each + 1) % ranks);
        EXPECT_EQ(answered.contains(each), expected);
      }
      EXPECT_EQ(roster.missing().size(), static_cast<std::size_t>(ranks) - here.size());
    }
    EXPECT_TRUE(roster.complete());
  }
}

TEST(RankList, StretchesAreDrawnTogether) {
  EXPECT_EQ(rank_list({}), "no rank");
  EXPECT_EQ(rank_list({7}), "rank 7");
  EXPECT_EQ(rank_list({0, 1, 2, 5, 7, 8}), "ranks 0-2, 5, 7-8");
  std::vector<int> odd;
  for (int rank = 1; rank < 100; rank += 2) odd.push_back(rank);
  EXPECT_TRUE(rank_list(odd).ends_with("61, 63 and 18 more"));
}

}  // namespace
}  // namespace commrig::bootstrap
