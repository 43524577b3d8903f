// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/ring.h"

#include <array>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/fixture_for_test.h"
#include "bootstrap/root.h"

namespace commrig::bootstrap {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST(Ring, EveryRankGetsEveryBlockForEachNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    SCOPED_TRACE(ranks);
    ThreadExecutor executor;
    const auto root = *Root::open(executor);
    run_ranks(executor, ranks, [&](int rank) {
      const auto ring = join_ring(executor, root->id(), rank, ranks);
      ASSERT_TRUE(ring) << ring.error().message;
      int round = 0;
      for (const std::size_t bytes : {1U, 4U, 136U, 0U, 100'000U}) {
        EXPECT_EQ(gather_and_compare(**ring, bytes, round++), "") << rank << " " << bytes;
      }
      EXPECT_TRUE((*ring)->barrier());
    });
    EXPECT_TRUE(root->wait_served());
  }
}

TEST(Ring, BlocksLargerThanTheBuffersOfBothSidesPass) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  run_ranks(executor, 3, [&](int rank) {
    const auto ring = join_ring(executor, root->id(), rank, 3);
    ASSERT_TRUE(ring) << ring.error().message;
    EXPECT_EQ(gather_and_compare(**ring, 12'000'000, 0), "");
  });
}

TEST(Ring, WorksOverIpv6) {
  ThreadExecutor executor;
  const Address loopback = Address::loopback(AF_INET6);
  const auto root = *Root::open(executor, {.listen = loopback});
  run_ranks(executor, 3, [&](int rank) {
    const auto ring = join_ring(executor, root->id(), rank, 3, {.listen = loopback});
    ASSERT_TRUE(ring) << ring.error().message;
    EXPECT_EQ(gather_and_compare(**ring, 20, 0), "");
  });
}

TEST(Ring, BarrierLetsNobodyThroughBeforeTheLast) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  std::atomic<int> came{0};
  run_ranks(executor, 5, [&](int rank) {
    const auto ring = join_ring(executor, root->id(), rank, 5);
    ASSERT_TRUE(ring) << ring.error().message;
    for (int round = 1; round <= 20; ++round) {
      came.fetch_add(1);
      ASSERT_TRUE((*ring)->barrier());
      EXPECT_GE(came.load(), 5 * round);
      ASSERT_TRUE((*ring)->barrier());
    }
  });
}

TEST(Ring, RankMayComeLongBeforeItsRootListens) {
  ThreadExecutor executor;
  Listener reserved = *Listener::open(Address::loopback(AF_INET));
  const Address at = reserved.address();
  reserved.close();
  std::unique_ptr<Root> root;
  run_ranks(executor, 2, [&](int rank) {
    if (rank == 0) {
      // Until it is refused once; nothing else tells that rank 1 has tried.
      EXPECT_EQ(connect(at, {executor}).error().code, Code::kConnection);
      root = *Root::open(executor, {.listen = at, .magic = 7});
    }
    const auto ring =
        join_ring(executor, UniqueId(7, at), rank, 2, {.refused = Refused::kTriesAgain});
    ASSERT_TRUE(ring) << ring.error().message;
    EXPECT_TRUE((*ring)->barrier());
  });
}

// All ranks, connected; so that what a test lets go wrong doesn't meet one that still connects.
std::vector<std::unique_ptr<Exchange>> connect_all(ThreadExecutor& executor, int ranks) {
  const auto root = *Root::open(executor);
  std::vector<std::unique_ptr<Exchange>> rings(static_cast<std::size_t>(ranks));
  run_ranks(executor, ranks, [&](int rank) {
    rings.at(static_cast<std::size_t>(rank)) = *join_ring(executor, root->id(), rank, ranks);
  });
  return rings;
}

TEST(Ring, BlocksOfDifferentSizesAreAnErrorOnEveryRank) {
  ThreadExecutor executor;
  const auto rings = connect_all(executor, 4);
  run_ranks(executor, 4, [&](int rank) {
    Exchange& ring = *rings.at(static_cast<std::size_t>(rank));
    const std::size_t bytes = rank == 2 ? 12 : 8;
    std::vector<std::byte> blocks(4 * bytes);
    const Status status = ring.all_gather(blocks, bytes);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kSetupMismatch);
    EXPECT_THAT(status.error().message, AnyOf(HasSubstr("block of 12 bytes, expected 8"),
                                              HasSubstr("block of 8 bytes, expected 12")));
    EXPECT_EQ(ring.barrier().error().message, status.error().message);
  });
}

TEST(Ring, AbortOnOneRankEndsAllWithItsReason) {
  ThreadExecutor executor;
  const auto rings = connect_all(executor, 6);
  run_ranks(executor, 6, [&](int rank) {
    // Rank 5 doesn't take part; somebody else ends the wait of rank 3.
    if (rank == 5) return rings[3]->abort(Error::make(Code::kAborted, "rank 3 has had enough"));
    const Status status = rings.at(static_cast<std::size_t>(rank))->barrier();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "rank 3 has had enough");
    EXPECT_EQ(status.error().code, Code::kAborted);
  });
}

TEST(Ring, RankThatLeavesIsNamedWithItsAddressByAllOthers) {
  ThreadExecutor executor;
  auto rings = connect_all(executor, 6);
  run_ranks(executor, 6,
            [&](int rank) { EXPECT_TRUE(rings[static_cast<std::size_t>(rank)]->barrier()); });
  run_ranks(executor, 6, [&](int rank) {
    if (rank == 4) return rings[4].reset();
    const Status status = rings.at(static_cast<std::size_t>(rank))->barrier();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kRankLost);
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("rank 4 at 127.0.0.1:"), HasSubstr("was lost")));
  });
}

TEST(Ring, RankThatDoesNotComeWithinItsTimeIsAnError) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  const auto ring = join_ring(executor, root->id(), 0, 2, {.connect_within = Nanos(1'000'000)});
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code, Code::kDeadline);
}

TEST(Ring, BadArgumentsAreRefused) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  for (const auto& [rank, ranks] : {std::pair(-1, 2), {2, 2}, {0, 0}, {0, -1}}) {
    EXPECT_EQ(join_ring(executor, root->id(), rank, ranks).error().code, Code::kBadArgument);
  }
  const auto ring = join_ring(executor, root->id(), 0, 1);
  std::array<std::byte, 5> blocks{};
  EXPECT_EQ((*ring)->all_gather(blocks, 4).error().code, Code::kBadArgument);
  EXPECT_TRUE((*ring)->all_gather(blocks, 5));
}

}  // namespace
}  // namespace commrig::bootstrap
