// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/circle.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "comm/awaited.h"
#include "comm/communicator.h"

namespace commrig::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kShort = 64;                     // is sent ahead
constexpr std::size_t kLong = std::size_t{32} << 20U;  // is not

// Ranks of this thread, each with a stream and a buffer of kLong bytes for each direction.
class CircleTest : public testing::Test {
 protected:
  void make(int ranks) {
    auto all = Communicator::create_all(machine_, ranks);
    ASSERT_TRUE(all.has_value());
    comms_ = std::move(all).value();
    for (int rank = 0; rank < ranks; ++rank) {
      streams_.push_back(machine_.create_stream(0).value());
      out_.push_back(*machine_.memory().allocate(0, kLong));
      in_.push_back(*machine_.memory().allocate(0, kLong));
    }
  }
  Message send(int rank, int peer, std::size_t bytes) {
    return {.outgoing = true, .peer = peer, .data = out_[at(rank)], .bytes = bytes};
  }
  Message receive(int rank, int peer, std::size_t bytes) {
    return {.outgoing = false, .peer = peer, .data = in_[at(rank)], .bytes = bytes};
  }
  void put(int rank, std::vector<Message> messages) {
    expect_put(comms_[at(rank)]->enqueue(*streams_[at(rank)], std::move(messages)));
  }
  void put_reduce(int rank) {
    expect_put(comms_[at(rank)]->enqueue(
        *streams_[at(rank)], Call{.input = out_[at(rank)], .output = in_[at(rank)], .count = 4}));
  }
  // A circle may be closed, and found, before all calls are made.
  static void expect_put(const Status& status) {
    if (status.has_value()) return;
    const Code code = status.error().code;
    EXPECT_TRUE(code == Code::kWaitCircle || code == Code::kStreamFailed)
        << to_string(status.error());
  }
  std::string outcome(int rank) {
    const Status status = machine_.synchronize(*streams_[at(rank)]);
    return status ? "ok" : to_string(status.error());
  }
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_{executor_, events_, {}};
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<void*> out_;
  std::vector<void*> in_;
  std::vector<std::unique_ptr<Communicator>> comms_;
};

TEST(AwaitedTest, AWordHoldsItAndItsVersion) {
  const Awaited awaited{.kind = Awaited::Kind::kSend, .peer = 1023, .number = 0xFFFFFFFFU};
  EXPECT_EQ(Awaited::from(awaited.word(0xFFFF)), awaited);
  EXPECT_NE(awaited.word(1), awaited.word(2));
  EXPECT_EQ(Awaited::from(0), Awaited{});
}

TEST_F(CircleTest, TwoRanksThatBothReceiveFirstAreNamed) {
  make(2);
  for (int rank = 0; rank < 2; ++rank) {
    put(rank, {receive(rank, 1 - rank, kShort)});
    put(rank, {send(rank, 1 - rank, kShort)});
  }
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_THAT(outcome(rank), AllOf(HasSubstr("CR-COL25"),
                                     HasSubstr("rank 0 waits to receive message 1 from rank 1"),
                                     HasSubstr("rank 1 waits to receive message 1 from rank 0")));
  }
}

TEST_F(CircleTest, TwoRanksThatBothSendSomethingLongFirstAreNamed) {
  make(2);
  for (int rank = 0; rank < 2; ++rank) {
    put(rank, {send(rank, 1 - rank, kLong)});
    put(rank, {receive(rank, 1 - rank, kLong)});
  }
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_THAT(outcome(rank),
                AllOf(HasSubstr("CR-COL25"), HasSubstr("rank 0 waits to send message 1 to rank 1"),
                      HasSubstr("rank 1 waits to send message 1 to rank 0")));
  }
}

TEST_F(CircleTest, ARingIsNamedWholeAndWithoutThoseThatOnlyWaitForIt) {
  make(5);
  for (int rank = 0; rank < 4; ++rank) put(rank, {receive(rank, (rank + 1) % 4, kShort)});
  put(4, {receive(4, 0, kShort)});
  for (int rank = 0; rank < 4; ++rank) put(rank, {send(rank, (rank + 3) % 4, kShort)});
  const std::string text = outcome(2);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(text, HasSubstr("rank " + std::to_string(rank) + " waits to receive message 1 "));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("rank 4")));
  EXPECT_EQ(outcome(4), text);
}

TEST_F(CircleTest, AMessageBehindACollectiveOfItsSenderIsNamed) {
  make(2);
  put(0, {receive(0, 1, kShort)});
  put_reduce(0);
  put_reduce(1);
  put(1, {send(1, 0, kShort)});
  EXPECT_THAT(outcome(0), AllOf(HasSubstr("rank 0 waits to receive message 1 from rank 1"),
                                HasSubstr("rank 1 waits in call 1 (all-reduce of 4 fp32, sum) for "
                                          "rank 0")));
  EXPECT_EQ(outcome(1), outcome(0));
}

TEST_F(CircleTest, ARankThatWaitsForItselfIsNamed) {
  make(2);
  put(1, {receive(1, 1, kShort)});
  put(1, {send(1, 1, kShort)});
  EXPECT_THAT(outcome(1), HasSubstr("CR-COL25: rank 1 waits to receive message 1 from rank 1"));
}

TEST_F(CircleTest, OneCrossingAmongMessagesThatArriveIsFound) {
  make(3);
  put(2, {send(2, 0, kLong)});
  put(0, {receive(0, 2, kLong), receive(0, 1, kShort)});
  put(1, {receive(1, 0, kShort)});
  put(0, {send(0, 1, kShort)});
  put(1, {send(1, 0, kShort)});
  EXPECT_THAT(outcome(0), HasSubstr("CR-COL25"));
}

TEST_F(CircleTest, WhatIsInOneGroupMayCross) {
  make(2);
  for (const std::size_t bytes : {kShort, kLong}) {
    for (int rank = 0; rank < 2; ++rank) {
      put(rank, {receive(rank, 1 - rank, bytes), send(rank, 1 - rank, bytes)});
    }
    EXPECT_EQ(outcome(0), "ok");
    EXPECT_EQ(outcome(1), "ok");
  }
}

TEST_F(CircleTest, ShortMessagesMayBeSentAhead) {
  make(2);
  for (int round = 0; round < 20; ++round) {
    for (int rank = 0; rank < 2; ++rank) {
      put(rank, {send(rank, 1 - rank, kShort)});
      put(rank, {receive(rank, 1 - rank, kShort)});
    }
  }
  EXPECT_EQ(outcome(0), "ok");
  EXPECT_EQ(outcome(1), "ok");
}

TEST_F(CircleTest, ACallThatTheOnlyThreadHasNotMadeIsNamedWhenItWaits) {
  make(3);
  machine_.end_stalls([] { return 1; });
  put_reduce(0);
  put_reduce(2);
  EXPECT_THAT(outcome(0),
              AllOf(HasSubstr("CR-COL26: rank 0 waits in call 1 (all-reduce of 4 fp32, sum) for "
                              "rank 1, which has begun 0 calls"),
                    HasSubstr("rank 2 waits in call 1")));
  EXPECT_THAT(outcome(2), HasSubstr("CR-COL26"));
}

TEST_F(CircleTest, CommunicatorsInAnotherOrderOnOneStreamAreNamed) {
  make(2);
  machine_.end_stalls([] { return 1; });
  auto others = Communicator::create_all(machine_, 2).value();
  const auto reduce = [&](Communicator& comm, int rank) {
    return comm.enqueue(*streams_[at(rank)],
                        Call{.input = out_[at(rank)], .output = in_[at(rank)], .count = 4});
  };
  EXPECT_TRUE(reduce(*comms_[0], 0).has_value());
  EXPECT_TRUE(reduce(*others[0], 0).has_value());
  EXPECT_TRUE(reduce(*others[1], 1).has_value());
  EXPECT_TRUE(reduce(*comms_[1], 1).has_value());
  EXPECT_THAT(outcome(0), HasSubstr("CR-COL26: rank 0 waits in call 1"));
  EXPECT_THAT(outcome(1), HasSubstr("rank 1 waits in call 1"));
}

TEST_F(CircleTest, ARankThatHasNotCalledYetIsWaitedFor) {
  make(3);
  put(0, {receive(0, 1, kShort)});
  put(1, {receive(1, 2, kShort)});
  EXPECT_EQ(machine_.synchronize(*streams_[0], executor_.now()).error().code, Code::kDeadline);
  put(2, {send(2, 1, kShort)});
  put(1, {send(1, 0, kShort)});
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(outcome(rank), "ok");
}

}  // namespace
}  // namespace commrig::comm
