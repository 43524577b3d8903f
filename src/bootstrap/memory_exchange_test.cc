// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/memory_exchange.h"

#include <array>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/fixture_for_test.h"

namespace commrig::bootstrap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

UniqueId id_number(std::uint64_t magic) {
  return UniqueId(magic, Address::loopback(AF_INET, 1));
}

TEST(MemoryExchange, EveryRankGetsEveryBlockForEachNumberOfRanks) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  for (int ranks = 1; ranks <= 9; ++ranks) {
    run_ranks(executor, ranks, [&](int rank) {
      const auto exchange = memory.join(id_number(static_cast<std::uint64_t>(ranks)), rank, ranks);
      ASSERT_TRUE(exchange) << exchange.error().message;
      EXPECT_EQ((*exchange)->rank(), rank);
      EXPECT_EQ((*exchange)->ranks(), ranks);
      int round = 0;
      for (const std::size_t bytes : {1U, 136U, 0U, 4U, 70'000U, 8U}) {
        EXPECT_EQ(gather_and_compare(**exchange, bytes, round++), "") << rank << " " << bytes;
        EXPECT_TRUE((*exchange)->barrier());
      }
    });
  }
}

TEST(MemoryExchange, AThousandRanksExchange) {
  constexpr int kRanks = 1024;
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  std::atomic<int> good{0};
  run_ranks(executor, kRanks, [&](int rank) {
    const auto exchange = memory.join(id_number(1), rank, kRanks);
    if (exchange && gather_and_compare(**exchange, 16, 0).empty()) good.fetch_add(1);
  });
  EXPECT_EQ(good.load(), kRanks);
}

TEST(MemoryExchange, UsedIdIsRefused) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  ASSERT_TRUE(memory.join(id_number(5), 0, 1));
  const auto again = memory.join(id_number(5), 0, 1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kIdUsed);
  EXPECT_THAT(again.error().message, HasSubstr("0000000000000005@127.0.0.1:1"));
  EXPECT_TRUE(memory.join(id_number(6), 0, 1));
}

TEST(MemoryExchange, RankThatComesTwiceFailsAll) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  run_ranks(executor, 2, [&](int) {
    const auto exchange = memory.join(id_number(1), 1, 3);
    ASSERT_FALSE(exchange);
    EXPECT_EQ(exchange.error().code, Code::kRankTwice);
    EXPECT_THAT(exchange.error().message, HasSubstr("rank 1 of 3 has come twice"));
  });
}

TEST(MemoryExchange, AnotherNumberOfRanksFailsAll) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  run_ranks(executor, 2, [&](int rank) {
    const auto exchange = memory.join(id_number(1), rank, rank == 0 ? 4 : 3);
    ASSERT_FALSE(exchange);
    EXPECT_EQ(exchange.error().code, Code::kSetupMismatch);
  });
}

TEST(MemoryExchange, MissingRanksAreNamedAtTheDeadline) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  const auto exchange = memory.join(id_number(1), 2, 5, {.join_within = Nanos(1)});
  ASSERT_FALSE(exchange);
  EXPECT_EQ(exchange.error().code, Code::kRankAbsent);
  EXPECT_EQ(exchange.error().message, "1 of 5 ranks have come; missing: ranks 0-1, 3-4");
  EXPECT_EQ(memory.join(id_number(1), 0, 5).error().message, exchange.error().message);
}

TEST(MemoryExchange, BlocksOfDifferentSizesFailAll) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  run_ranks(executor, 3, [&](int rank) {
    const auto exchange = memory.join(id_number(1), rank, 3);
    const std::size_t bytes = rank == 1 ? 12 : 8;
    std::vector<std::byte> blocks(3 * bytes);
    const Status status = (*exchange)->all_gather(blocks, bytes);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kSetupMismatch);
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("8"), HasSubstr("12"), HasSubstr("rank 1")));
    EXPECT_EQ((*exchange)->barrier().error().message, status.error().message);
  });
}

TEST(MemoryExchange, RankThatLeavesFailsThoseThatNeedIt) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  run_ranks(executor, 4, [&](int rank) {
    auto exchange = memory.join(id_number(1), rank, 4);
    ASSERT_TRUE(exchange);
    ASSERT_TRUE((*exchange)->barrier());
    if (rank == 2) return exchange->reset();
    const Status status = (*exchange)->barrier();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kRankLost);
    EXPECT_THAT(status.error().message, HasSubstr("rank 2 has left"));
  });
}

TEST(MemoryExchange, AbortEndsAllRanksWithItsReason) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  std::array<std::unique_ptr<Exchange>, 4> exchanges;
  run_ranks(executor, 4, [&](int rank) {
    exchanges.at(static_cast<std::size_t>(rank)) = *memory.join(id_number(1), rank, 4);
  });
  run_ranks(executor, 4, [&](int rank) {
    Exchange& exchange = *exchanges.at(static_cast<std::size_t>(rank));
    if (rank == 3) return exchange.abort(Error::make(Code::kAborted, "enough"));
    EXPECT_EQ(exchange.barrier().error().message, "enough");
  });
}

TEST(MemoryExchange, AbortFlagEndsTheWaitForOthers) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  AbortFlag flag;
  run_ranks(executor, 2, [&](int rank) {
    if (rank == 1) return flag.raise(Error::make(Code::kAborted, "enough"), executor);
    EXPECT_EQ(memory.join(id_number(1), 0, 2, {.abort = &flag}).error().message, "enough");
  });
}

TEST(MemoryExchange, BadArgumentsAreRefused) {
  ThreadExecutor executor;
  MemoryRendezvous memory(executor);
  for (const auto& [rank, ranks] : {std::pair(-1, 2), {2, 2}, {0, 0}}) {
    EXPECT_EQ(memory.join(id_number(1), rank, ranks).error().code, Code::kBadArgument);
  }
  const auto exchange = memory.join(id_number(2), 0, 1);
  std::array<std::byte, 3> blocks{};
  EXPECT_EQ((*exchange)->all_gather(blocks, 2).error().code, Code::kBadArgument);
}

}  // namespace
}  // namespace commrig::bootstrap
