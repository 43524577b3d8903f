// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/communicator.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"

namespace commrig::comm {
namespace {

using coll::Collective;

// A machine with a stream and a communicator for each rank.
class Ranks {
 public:
  explicit Ranks(int ranks, const CommunicatorOptions& options = {})
      : machine_(executor_, events_, {.devices = 2}) {
    Result<std::vector<std::unique_ptr<Communicator>>> all =
        Communicator::create_all(machine_, ranks, options);
    EXPECT_TRUE(all.has_value());
    comms_ = std::move(all).value();
    for (int rank = 0; rank < ranks; ++rank) {
      streams_.push_back(std::move(machine_.create_stream(rank % 2)).value());
    }
  }
  int count() const { return static_cast<int>(comms_.size()); }
  device::Machine& machine() { return machine_; }
  Communicator& comm(int rank) { return *comms_[static_cast<std::size_t>(rank)]; }
  device::Stream& stream(int rank) { return *streams_[static_cast<std::size_t>(rank)]; }
  Status synchronize(int rank) { return machine_.synchronize(stream(rank)); }
  void end(int rank) { comms_[static_cast<std::size_t>(rank)].reset(); }

  // Runs body(rank) on a thread for each rank.
  template <class Body>
  void on_threads(Body body) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count(); ++rank) {
      threads.emplace_back([&body, rank] { body(rank); });
    }
  }

 private:
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<std::unique_ptr<Communicator>> comms_;
};

Call all_reduce(const std::vector<std::int64_t>& input, std::vector<std::int64_t>& output) {
  return {.collective = Collective::kAllReduce,
          .input = input.data(),
          .output = output.data(),
          .count = input.size(),
          .dtype = dtype::Dtype::kInt64};
}

class CommunicatorTest : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  CommunicatorOptions options() const { return {.messages_only = std::get<1>(GetParam())}; }
};

TEST_P(CommunicatorTest, ThreadsSumManyTimes) {
  Ranks ranks(this->ranks(), options());
  ranks.on_threads([&](int rank) {
    std::vector<std::int64_t> input(1000);
    std::vector<std::int64_t> output(1000);
    for (std::int64_t round = 0; round < 50; ++round) {
      for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = round * 1'000'000 + rank * 1'000 + static_cast<std::int64_t>(i);
      }
      ASSERT_TRUE(ranks.comm(rank).enqueue(ranks.stream(rank), all_reduce(input, output)));
      const Status status = ranks.synchronize(rank);
      ASSERT_TRUE(status.has_value()) << to_string(status.error());
      const std::int64_t n = ranks.count();
      for (std::size_t i = 0; i < output.size(); ++i) {
        ASSERT_EQ(output[i],
                  n * (round * 1'000'000 + static_cast<std::int64_t>(i)) + 1'000 * n * (n - 1) / 2);
      }
    }
  });
}

TEST_P(CommunicatorTest, OneThreadDrivesAllRanks) {
  Ranks ranks(this->ranks(), options());
  const auto n = static_cast<std::size_t>(ranks.count());
  std::vector<std::vector<std::int64_t>> inputs(n, std::vector<std::int64_t>(20'000, 3));
  std::vector<std::vector<std::int64_t>> outputs(n, std::vector<std::int64_t>(20'000));
  for (std::size_t r = 0; r < n; ++r) {
    const int rank = static_cast<int>(r);
    ASSERT_TRUE(ranks.comm(rank).enqueue(ranks.stream(rank), all_reduce(inputs[r], outputs[r])));
  }
  for (int rank = ranks.count() - 1; rank >= 0; --rank) {
    ASSERT_TRUE(ranks.synchronize(rank));
    EXPECT_THAT(outputs[static_cast<std::size_t>(rank)], testing::Each(3 * ranks.count()));
  }
}

TEST_P(CommunicatorTest, MessagesInEitherOrderAreUnderWayTogether) {
  Ranks ranks(this->ranks(), options());
  ranks.on_threads([&](int rank) {
    const int n = ranks.count();
    std::vector<std::vector<int>> sent(static_cast<std::size_t>(n), std::vector<int>(5000, rank));
    std::vector<std::vector<int>> got(static_cast<std::size_t>(n), std::vector<int>(5000, -1));
    std::vector<Message> messages;
    for (int peer = 0; peer < n; ++peer) {
      const auto p = static_cast<std::size_t>(peer);
      messages.push_back({.outgoing = true, .peer = peer, .data = sent[p].data(), .bytes = 20'000});
      messages.push_back({.outgoing = false, .peer = peer, .data = got[p].data(), .bytes = 20'000});
    }
    ASSERT_TRUE(ranks.comm(rank).enqueue(ranks.stream(rank), messages));
    const Status status = ranks.synchronize(rank);
    ASSERT_TRUE(status.has_value()) << to_string(status.error());
    for (int peer = 0; peer < n; ++peer) {
      EXPECT_THAT(got[static_cast<std::size_t>(peer)], testing::Each(peer));
    }
  });
}

TEST_P(CommunicatorTest, SplitMakesCommunicatorsThatWork) {
  Ranks ranks(this->ranks(), options());
  ranks.on_threads([&](int rank) {
    Result<std::unique_ptr<Communicator>> half = ranks.comm(rank).split(rank % 2, -rank);
    ASSERT_TRUE(half.has_value()) << to_string(half.error());
    Communicator& comm = **half;
    const int members = (ranks.count() + 1 - rank % 2) / 2;
    EXPECT_EQ(comm.ranks(), members);
    EXPECT_EQ(comm.rank(), members - 1 - rank / 2);
    std::vector<std::int64_t> input{rank};
    std::vector<std::int64_t> output{-1};
    ASSERT_TRUE(comm.enqueue(ranks.stream(rank), all_reduce(input, output)));
    ASSERT_TRUE(ranks.synchronize(rank));
    std::int64_t sum = 0;
    for (int peer = rank % 2; peer < ranks.count(); peer += 2) sum += peer;
    EXPECT_EQ(output[0], sum);
    EXPECT_TRUE(comm.finalize());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8, 17), testing::Bool()),
                         [](const auto& test) {
                           return std::to_string(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) ? "_messages" : "_shared");
                         });

TEST(Mismatch, NamesWhoCallsWhat) {
  Ranks ranks(4);
  std::vector<std::int64_t> input(4, 1);
  std::vector<std::vector<std::int64_t>> outputs(4, std::vector<std::int64_t>(16));
  ranks.on_threads([&](int rank) {
    Call call = all_reduce(input, outputs[static_cast<std::size_t>(rank)]);
    if (rank == 2) call.collective = Collective::kAllGather;
    // The first ones to differ may have met already.
    const Status enqueued = ranks.comm(rank).enqueue(ranks.stream(rank), call);
    const Status status = enqueued ? ranks.synchronize(rank) : enqueued;
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, Code::kCollectiveMismatch);
    EXPECT_THAT(status.error().message, testing::HasSubstr("rank 2: all-gather of 4 int64"));
  });
}

TEST(Leaving, NamesTheRankThatDoesNotCome) {
  Ranks ranks(3);
  std::vector<std::int64_t> input(4, 1);
  std::vector<std::int64_t> output(4);
  ASSERT_TRUE(ranks.comm(0).enqueue(ranks.stream(0), all_reduce(input, output)));
  ranks.end(1);
  const Status status = ranks.synchronize(0);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kPeerLeft);
  EXPECT_THAT(status.error().message, testing::HasSubstr("rank 1 has left"));
}

TEST(CommunicatorTest, ACallOnAStreamThatHasFailedEndsTheCommunicator) {
  Ranks ranks(2);
  ASSERT_TRUE(device::call(ranks.stream(0),
                           [] { return Error::make(Code::kKernelThrew, "the first error"); }));
  EXPECT_FALSE(ranks.synchronize(0).has_value());
  const std::vector<std::int64_t> input{1};
  std::vector<std::int64_t> output(1);
  const Status refused = ranks.comm(0).enqueue(ranks.stream(0), all_reduce(input, output));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kStreamFailed);
  const Status told = ranks.comm(1).error();
  ASSERT_FALSE(told.has_value());
  EXPECT_THAT(to_string(told.error()), testing::HasSubstr("the first error"));
}

}  // namespace
}  // namespace commrig::comm
