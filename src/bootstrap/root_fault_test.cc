// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
// Strangers, and ranks that do what no rank should.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "bootstrap/fixture_for_test.h"
#include "bootstrap/ring.h"
#include "bootstrap/root.h"

namespace commrig::bootstrap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMagic = 0x1122334455667788;
const std::vector<std::byte> kHandshake = hex("88 77 66 55 44 33 22 11  01 00 00 00");

// What a stranger may say, chosen by chance: noise, a record cut short, another id, another kind of
// connection, nothing.
std::vector<std::byte> strange_bytes(Rng& rng, const HandRank& rank) {
  std::vector<std::byte> bytes = rank.check_in_bytes(1, 4);
  switch (rng.below(5)) {
    case 0:
      bytes.resize(rng.below(400));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
      break;
    case 1:
      bytes.resize(rng.below(bytes.size()));
      break;
    case 2:
      bytes[rng.below(8)] ^= static_cast<std::byte>(1 + rng.below(255));
      break;
    case 3:
      bytes[8] = static_cast<std::byte>(2 + rng.below(4));
      break;
    default:
      bytes.clear();
  }
  return bytes;
}

TEST(RootFault, StrangersDisturbNobody) {
  const std::uint64_t seed = seed_from_environment(20'250'302);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic, .limits = {.unknown_max = 16}});
  const HandRank copied(executor, kHandshake);
  std::vector<Socket> kept;
  const auto visit = [&] {
    for (int i = 0; i < 60; ++i) {
      Socket socket = *connect(root->id().root(), {executor});
      // The root may have hung up already, which is its right.
      (void)socket.write_all(strange_bytes(rng, copied), "noise", {executor});
      if (rng.below(2) == 0) kept.push_back(std::move(socket));
    }
  };
  visit();
  run_ranks(executor, 5, [&](int rank) {
    if (rank == 4) return visit();
    const auto ring = join_ring(executor, root->id(), rank, 4);
    ASSERT_TRUE(ring) << ring.error().message;
    EXPECT_EQ(gather_and_compare(**ring, 20, 0), "");
  });
  EXPECT_TRUE(root->wait_served());
}

TEST(RootFault, SilentConnectionIsDroppedAfterItsTime) {
  ThreadExecutor executor;
  HandTime time(executor);
  const auto root = *Root::open(time, {.magic = kMagic});
  const Socket silent = *connect(root->id().root(), {executor});
  const HandRank zero(executor, kHandshake);
  (void)zero.check_in(root->id().root(), 0, 2);
  ASSERT_TRUE(root->wait_present(1));  // The silent one was accepted before.
  time.advance(std::chrono::seconds(31));
  std::byte byte{};
  const Status status = silent.read_all({&byte, 1}, "the end", {executor});
  EXPECT_THAT(status.error().message, HasSubstr("has closed the connection"));
}

TEST(RootFault, RankThatComesTwiceIsNamedWithBothAddresses) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank first(executor, kHandshake);
  const HandRank second(executor, kHandshake);
  const Socket a = first.check_in(root->id().root(), 2, 4);
  ASSERT_TRUE(root->wait_present(1));
  const Socket b = second.check_in(root->id().root(), 2, 4);
  const Error error = first.refusal();
  EXPECT_EQ(error.code, Code::kRankTwice);
  EXPECT_THAT(error.message, HasSubstr("rank 2 of 4 has come twice: from 127.0.0.1:"));
  EXPECT_THAT(error.message, HasSubstr(" and from 127.0.0.1:"));
  EXPECT_EQ(second.refusal().message, error.message);
  EXPECT_EQ(root->wait_served().error().code, Code::kRankTwice);
}

TEST(RootFault, AnotherNumberOfRanksIsNamedOnBothSides) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  run_ranks(executor, 2, [&](int rank) {
    const auto ring = join_ring(executor, root->id(), rank, rank == 0 ? 4 : 3);
    ASSERT_FALSE(ring);
    EXPECT_EQ(ring.error().code, Code::kSetupMismatch);
    EXPECT_THAT(ring.error().message, AllOf(HasSubstr("4"), HasSubstr("3")));
  });
}

TEST(RootFault, RecordOfAnotherGenerationFailsAllWithBothLengths) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank zero(executor, kHandshake);
  (void)zero.check_in(root->id().root(), 0, 2);
  ASSERT_TRUE(root->wait_present(1));
  const Socket newer = *connect(root->id().root(), {executor});
  ASSERT_TRUE(newer.write_all(kHandshake + hex("b0 00 00 00"), "a head", {executor}));
  const Error error = zero.refusal();
  EXPECT_EQ(error.code, Code::kSetupMismatch);
  EXPECT_THAT(error.message, HasSubstr("message of 176 bytes, expected 172"));
}

TEST(RootFault, RecordThatNoRankMaySendFailsAll) {
  struct Case {
    std::size_t at;
    std::string_view bytes;
    const char* reason;
  };
  for (const Case& each :
       {Case{16, "02 00 00 00", "rank 2, expected 0 to 1"},
        Case{16, "ff ff ff ff", "rank -1, expected 0 to 1"}, Case{20, "00 00 00 00", "0 ranks"},
        Case{24, "01 00 00 00", "root 1 of 1, expected root 0 of 1"},
        Case{28, "02 00 00 00", "root 0 of 2, expected root 0 of 1"}, Case{32, "01 00", "family 1"},
        Case{34, "00 00", "has no port"}}) {
    ThreadExecutor executor;
    const auto root = *Root::open(executor, {.magic = kMagic});
    const HandRank rank(executor, kHandshake);
    auto bytes = rank.check_in_bytes(0, 2);
    const auto wrong = hex(each.bytes);
    std::ranges::copy(wrong, bytes.begin() + static_cast<std::ptrdiff_t>(each.at));
    const Socket socket = *connect(root->id().root(), {executor});
    ASSERT_TRUE(socket.write_all(bytes, "a record", {executor}));
    const Status status = root->wait_served();
    EXPECT_EQ(status.error().code, Code::kSetupMismatch);
    EXPECT_THAT(status.error().message, HasSubstr(each.reason));
    EXPECT_THAT(status.error().message, HasSubstr("127.0.0.1:"));
  }
}

TEST(RootFault, IdThatWasUsedIsRefusedWithItsHash) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  const UniqueId id = root->id();
  run_ranks(executor, 2, [&](int rank) {
    const auto ring = join_ring(executor, id, rank, 2);
    EXPECT_TRUE(ring && (*ring)->barrier());
  });
  ASSERT_TRUE(root->wait_served());
  run_ranks(executor, 2, [&](int rank) {
    const auto again = join_ring(executor, id, rank, 2);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::kIdUsed);
    EXPECT_THAT(again.error().message, HasSubstr(id.to_string()));
  });
}

TEST(RootFault, RootThatIsGoneIsAnErrorAtOnce) {
  ThreadExecutor executor;
  const UniqueId id = (*Root::open(executor))->id();
  const auto ring = join_ring(executor, id, 1, 2);
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code, Code::kRootLost);
  EXPECT_THAT(ring.error().message, AllOf(HasSubstr("rank 1"), HasSubstr(id.to_string()),
                                          HasSubstr("Connection refused")));
}

TEST(RootFault, RootThatClosesEndsEveryRankThatWaits) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  run_ranks(executor, 3, [&](int rank) {
    if (rank == 2) {
      EXPECT_TRUE(root->wait_present(2));
      return root->close();
    }
    const auto ring = join_ring(executor, root->id(), rank * 2, 4);
    ASSERT_FALSE(ring);
    EXPECT_EQ(ring.error().code, Code::kRootLost);
  });
}

TEST(RootFault, RankThatCanNotBeAnsweredIsNamed) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank one(executor, kHandshake);
  {
    const HandRank gone(executor, kHandshake);
    (void)gone.check_in(root->id().root(), 0, 3);
  }
  ASSERT_TRUE(root->wait_present(1));
  (void)one.check_in(root->id().root(), 1, 3);
  const Error error = one.refusal();
  EXPECT_EQ(error.code, Code::kRankLost);
  EXPECT_THAT(error.message, HasSubstr("rank 0 does not take its answer"));
}

TEST(RootFault, AbortEndsTheWaitForTheRoot) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor);
  AbortFlag flag;
  run_ranks(executor, 2, [&](int rank) {
    if (rank == 1) {
      EXPECT_TRUE(root->wait_present(1));
      return flag.raise(Error::make(Code::kAborted, "enough"), executor);
    }
    const auto ring = join_ring(executor, root->id(), 0, 2, {.abort = &flag});
    EXPECT_EQ(ring.error().message, "enough");
  });
}

}  // namespace
}  // namespace commrig::bootstrap
