// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <gmock/gmock.h>

#include "tests/api/ranks.h"

namespace {

using api_test::Ranks;
using commrig::Buffers;
using commrig::Communicator;
using commrig::Dtype;
using commrig::ErrorKind;
using commrig::Group;
using commrig::ReduceOp;
using commrig::Runtime;
using commrig::Stream;

constexpr std::size_t kLarge = 200'000;  // such a message does not fit into a buffer on its way

TEST(GroupTest, MessagesInACircleAreUnderWayTogether) {
  Ranks ranks(4);
  ranks.on_threads([&](Communicator& comm, Stream& stream) {
    const int n = comm.size();
    const std::vector<int> out(kLarge, comm.rank());
    std::vector<int> in(kLarge, -1);
    Group group;
    EXPECT_OK(
        comm.send(group.on(stream), out.data(), kLarge, Dtype::kInt32, (comm.rank() + 1) % n));
    EXPECT_OK(
        comm.recv(group.on(stream), in.data(), kLarge, Dtype::kInt32, (comm.rank() + n - 1) % n));
    EXPECT_EQ(in[0], -1) << "begun before submit";
    EXPECT_OK(group.submit());
    EXPECT_OK(stream.synchronize());
    EXPECT_THAT(in, testing::Each((comm.rank() + n - 1) % n));
  });
}

TEST(GroupTest, OneThreadMakesTheCallsOfAllRanks) {
  Ranks ranks(3);
  std::vector<std::int32_t> values{1, 2, 4};
  Group group;
  for (int rank = 0; rank < 3; ++rank) {
    std::int32_t* const value = &values[static_cast<std::size_t>(rank)];
    EXPECT_OK(ranks.comm(rank).all_reduce(group.on(ranks.stream(rank)), {value, value}, 1,
                                          Dtype::kInt32, ReduceOp::kSum));
  }
  EXPECT_OK(group.submit());
  for (int rank = 0; rank < 3; ++rank) EXPECT_OK(ranks.stream(rank).synchronize());
  EXPECT_THAT(values, testing::Each(7));
  // It is empty now.
  EXPECT_OK(group.submit());
  for (int rank = 0; rank < 3; ++rank) EXPECT_OK(ranks.stream(rank).synchronize());
  EXPECT_THAT(values, testing::Each(7));
}

TEST(GroupTest, WhatIsNotSubmittedIsDropped) {
  Ranks ranks(2);
  int value = 0;
  {
    Group group;
    EXPECT_OK(ranks.comm(0).send(group.on(ranks.stream(0)), &value, 1, Dtype::kInt32, 1));
  }
  EXPECT_TRUE(ranks.stream(0).query().value());
  EXPECT_OK(ranks.comm(0).finalize());
}

TEST(GroupTest, MessagesOfOneCommunicatorOnTwoStreamsAreRefused) {
  Ranks ranks(1);
  Stream other = Stream::create(ranks.runtime()).value();
  int value = 0;
  Group group;
  EXPECT_OK(ranks.comm(0).send(group.on(ranks.stream(0)), &value, 1, Dtype::kInt32, 0));
  EXPECT_ERROR(ranks.comm(0).recv(group.on(other), &value, 1, Dtype::kInt32, 0), "CR-RUN09");
}

TEST(CommunicatorTest, SplitOrdersByKeyAndGivesNothingForANegativeColor) {
  Ranks ranks(5);
  ranks.on_threads([&](Communicator& comm, Stream& stream) {
    const int color = comm.rank() == 4 ? -1 : comm.rank() % 2;
    auto part = comm.split(color, -comm.rank()).value();
    ASSERT_EQ(part.has_value(), color >= 0);
    if (!part) return;
    EXPECT_EQ(part->size(), 2);
    EXPECT_EQ(part->rank(), comm.rank() < 2 ? 1 : 0);
    std::int32_t sum = comm.rank();
    EXPECT_OK(part->all_reduce(stream, {&sum, &sum}, 1, Dtype::kInt32, ReduceOp::kSum));
    EXPECT_OK(stream.synchronize());
    EXPECT_EQ(sum, color == 0 ? 2 : 4);
    EXPECT_OK(part->barrier());
  });
}

TEST(CommunicatorTest, ARankThatCallsSomethingElseIsNamedToAll) {
  Ranks ranks(3);
  ranks.on_threads([&](Communicator& comm, Stream& stream) {
    std::vector<float> data(8, 1);
    const std::size_t count = comm.rank() == 1 ? 7 : 8;
    // The call itself fails if another rank has found the difference before.
    commrig::Status status =
        comm.all_reduce(stream, {data.data(), data.data()}, count, Dtype::kFp32, ReduceOp::kSum);
    if (status) status = stream.synchronize();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().id, "CR-COL18");
    EXPECT_EQ(status.error().kind, ErrorKind::kProtocol);
    EXPECT_THAT(status.error().message, testing::HasSubstr("rank 1"));
    EXPECT_ERROR(comm.error(), "CR-COL18");
  });
}

TEST(CommunicatorTest, AbortEndsTheWaitsOfAll) {
  Ranks ranks(3);
  ranks.on_threads([&](Communicator& comm, Stream& stream) {
    if (comm.rank() == 2) {
      comm.abort();
      return;
    }
    EXPECT_ERROR(comm.barrier(), "CR-RUN02");
    float value = 0;
    EXPECT_ERROR(comm.broadcast(stream, {&value, &value}, 1, Dtype::kFp32, 0), "CR-RUN02");
  });
}

TEST(CommunicatorTest, FinalizedOnesRefuseCalls) {
  Ranks ranks(2);
  ranks.on_threads([&](Communicator& comm, Stream&) {
    EXPECT_OK(comm.barrier());
    EXPECT_OK(comm.finalize());
    EXPECT_ERROR(comm.barrier(), "CR-COL23");
  });
}

TEST(CommunicatorTest, RulesChooseTheAlgorithmAndMistakesInThemAreNamed) {
  Runtime runtime = Runtime::create().value();
  commrig::CommunicatorOptions options;
  options.algorithms = "all-reduce=ring";
  EXPECT_TRUE(Communicator::create_all(runtime, 2, options).has_value());
  options.algorithms = "all-reduce=circle";
  EXPECT_ERROR(Communicator::create_all(runtime, 2, options), "CR-COL06");
  options.algorithms = "all-reduce";
  EXPECT_ERROR(Communicator::create_all(runtime, 2, options), "CR-COL07");
  EXPECT_ERROR(Communicator::create_all(runtime, 0), "CR-COL02");
}

TEST(CommunicatorTest, BadCallsAreRefusedAndLeaveEverythingUsable) {
  Ranks ranks(2);
  Communicator& comm = ranks.comm(0);
  Stream& stream = ranks.stream(0);
  std::vector<float> data(8);
  float* const at = data.data();
  constexpr Dtype kType = Dtype::kFp32;
  EXPECT_ERROR(comm.all_reduce(stream, {nullptr, at}, 1, kType, ReduceOp::kSum), "CR-COL20");
  EXPECT_ERROR(comm.all_reduce(stream, {at, at + 1}, 4, kType, ReduceOp::kSum), "CR-COL21");
  EXPECT_ERROR(comm.broadcast(stream, {at, at}, 1, kType, 2), "CR-COL03");
  EXPECT_ERROR(comm.all_gather_v(stream, {at, at + 4}, {1}, kType), "CR-COL04");
  EXPECT_ERROR(comm.all_gather(stream, {at, at + 4}, ~std::size_t{0}, kType), "CR-COL05");
  EXPECT_ERROR(comm.send(stream, at, ~std::size_t{0}, kType, 1), "CR-COL05");
  EXPECT_ERROR(comm.send(stream, at, 1, kType, 2), "CR-COL22");
  EXPECT_ERROR(comm.recv(stream, at, 1, kType, -1), "CR-COL22");
  EXPECT_ERROR(comm.recv(stream, nullptr, 1, kType, 1), "CR-COL20");
  EXPECT_ERROR(comm.all_reduce(stream, {at, at}, 1, static_cast<Dtype>(99), ReduceOp::kSum),
               "CR-DTY01");
  EXPECT_ERROR(comm.all_reduce(stream, {at, at}, 1, kType, static_cast<ReduceOp>(99)), "CR-DTY03");
  EXPECT_ERROR(comm.all_reduce(stream, {at, at}, 1, Dtype::kHif8, ReduceOp::kSum), "CR-DTY02");
  ranks.on_threads([](Communicator& each, Stream&) { EXPECT_OK(each.barrier()); });
}

TEST(CommunicatorTest, StreamsOfAnotherRuntimeAreRefused) {
  Ranks ranks(1);
  Runtime other = Runtime::create().value();
  Stream stream = Stream::create(other).value();
  int value = 0;
  EXPECT_ERROR(ranks.comm(0).all_reduce(stream, {&value, &value}, 1, Dtype::kInt32, ReduceOp::kSum),
               "CR-RUN09");
}

TEST(CommunicatorTest, ObjectsMayGoInAnyOrderEvenWithWorkThatWaits) {
  auto runtime = std::make_unique<Runtime>(Runtime::create().value());
  auto comms = Communicator::create_all(*runtime, 2).value();
  auto stream = std::make_unique<Stream>(Stream::create(*runtime).value());
  std::int32_t value = 1;
  EXPECT_OK(comms[0].all_reduce(*stream, {&value, &value}, 1, Dtype::kInt32, ReduceOp::kSum));
  runtime.reset();
  stream.reset();  // rank 1 will never come
  comms.clear();
}

}  // namespace
