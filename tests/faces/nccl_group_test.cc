// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/ranks.h"

// What ncclGroupStart and ncclGroupEnd promise.
namespace commrig::faces {
namespace {

std::vector<std::byte> floats(std::size_t count, float value) {
  return elements(kTypes[ncclFloat32], count, [value](std::size_t) { return value; });
}

TEST(Group, AnEndWithoutAStartIsRefused) {
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(last_error(), "ncclGroupEnd: not in a group call.");
}

TEST(Group, AnErrorInsideIsGivenAgainByTheOutermostEndAndTheNextGroupIsClean) {
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclGroupStart());
  EXPECT_NCCL(ncclAllReduce(nullptr, nullptr, 1, ncclFloat, ncclSum, nullptr, nullptr),
              ncclInvalidArgument);
  EXPECT_NCCL(ncclGroupEnd(), ncclSuccess);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  ASSERT_NCCL(ncclGroupStart());
  EXPECT_NCCL(ncclGroupEnd(), ncclSuccess);
}

TEST(Group, NothingOfAGroupWithAnErrorIsDone) {
  const Ranks group(1);
  const Buffer in(0, floats(4, 3));
  const Buffer out(0, floats(4, 0));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(
      ncclAllReduce(in.at(), out.at(), 4, ncclFloat, ncclSum, group.comms[0], group.streams[0]));
  EXPECT_NCCL(ncclBroadcast(in.at(), out.at(), 4, ncclFloat, 1, group.comms[0], group.streams[0]),
              ncclInvalidArgument);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  group.synchronize();
  EXPECT_EQ(out.read(), floats(4, 0));
}

TEST(Group, InnerEndsStartNothing) {
  const Ranks group(2);
  std::vector<Buffer> data;
  for (int r = 0; r < 2; ++r) data.emplace_back(r, floats(1, 1));
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < 2; ++r) {
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(ncclAllReduce(data[r].at(), data[r].at(), 1, ncclFloat, ncclSum, group.comms[r],
                              group.streams[r]));
    ASSERT_NCCL(ncclGroupEnd());
  }
  ASSERT_NCCL(ncclGroupEnd());
  group.synchronize();
  EXPECT_EQ(data[1].read(), floats(1, 2));
}

TEST(Group, SeveralCommunicatorsAndOperationsMayBeInOne) {
  const Ranks one(2);
  const Ranks other(3);
  std::vector<Buffer> first;
  std::vector<Buffer> second;
  for (int r = 0; r < 2; ++r) first.emplace_back(r, floats(8, 1));
  for (int r = 0; r < 3; ++r) second.emplace_back(r, floats(8, 1));
  ASSERT_NCCL(ncclGroupStart());
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < 2; ++r) {
      ASSERT_NCCL(ncclAllReduce(first[r].at(), first[r].at(), 8, ncclFloat, ncclSum, one.comms[r],
                                one.streams[r]));
    }
    for (int r = 0; r < 3; ++r) {
      ASSERT_NCCL(ncclAllReduce(second[r].at(), second[r].at(), 8, ncclFloat, ncclSum,
                                other.comms[r], other.streams[r]));
    }
  }
  ASSERT_NCCL(ncclGroupEnd());
  one.synchronize();
  other.synchronize();
  EXPECT_EQ(first[1].read(), floats(8, 8));
  EXPECT_EQ(second[2].read(), floats(8, 27));
}

TEST(Group, MessagesAndCollectivesMayStandInAnyOrderOnDifferentRanks) {
  const Ranks group(2);
  std::vector<Buffer> sums;
  for (int r = 0; r < 2; ++r) sums.emplace_back(r, floats(1, 1));
  const Buffer out(0, floats(1, 7));
  const Buffer in(1, floats(1, 0));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclSend(out.at(), 1, ncclFloat, 1, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclAllReduce(sums[0].at(), sums[0].at(), 1, ncclFloat, ncclSum, group.comms[0],
                            group.streams[0]));
  ASSERT_NCCL(ncclAllReduce(sums[1].at(), sums[1].at(), 1, ncclFloat, ncclSum, group.comms[1],
                            group.streams[1]));
  ASSERT_NCCL(ncclRecv(in.at(), 1, ncclFloat, 0, group.comms[1], group.streams[1]));
  ASSERT_NCCL(ncclGroupEnd());
  group.synchronize();
  EXPECT_EQ(in.read(), floats(1, 7));
  EXPECT_EQ(sums[0].read(), floats(1, 2));
}

TEST(Group, MessagesOfOneRankMayBeOnSeveralStreamsWhichAllWaitForThem) {
  const Ranks group(2);
  cudaStream_t second = nullptr;
  ASSERT_CUDA(cudaSetDevice(0));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  const Buffer out(0, floats(2, 4));
  const Buffer in(1, floats(2, 0));
  const Buffer back(0, floats(2, 0));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclSend(out.at(), 2, ncclFloat, 1, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclRecv(back.at(), 2, ncclFloat, 1, group.comms[0], second));
  ASSERT_NCCL(ncclRecv(in.at(), 2, ncclFloat, 0, group.comms[1], group.streams[1]));
  ASSERT_NCCL(ncclSend(out.at(), 2, ncclFloat, 0, group.comms[1], group.streams[1]));
  ASSERT_NCCL(ncclGroupEnd());
  ASSERT_CUDA(cudaStreamSynchronize(second));
  EXPECT_EQ(back.read(), floats(2, 4));
  group.synchronize();
  ASSERT_CUDA(cudaStreamDestroy(second));
}

TEST(Group, MessagesOfAPairArriveInTheOrderOfTheirCalls) {
  const Ranks group(2);
  const Buffer first(0, floats(1, 1));
  const Buffer second(0, floats(1, 2));
  const Buffer in(1, floats(2, 0));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclSend(first.at(), 1, ncclFloat, 1, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclSend(second.at(), 1, ncclFloat, 1, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclRecv(in.at(), 1, ncclFloat, 0, group.comms[1], group.streams[1]));
  ASSERT_NCCL(ncclRecv(in.at(4), 1, ncclFloat, 0, group.comms[1], group.streams[1]));
  ASSERT_NCCL(ncclGroupEnd());
  group.synchronize();
  EXPECT_EQ(in.read(), elements(kTypes[ncclFloat32], 2,
                                [](std::size_t i) { return static_cast<double>(i + 1); }));
}

TEST(Group, AMessageToTheOwnRankNeedsItsReceiptInTheSameGroup) {
  const Ranks group(1);
  const Buffer out(0, floats(1, 1));
  const Buffer in(0, floats(1, 0));
  EXPECT_NCCL(ncclSend(out.at(), 1, ncclFloat, 0, group.comms[0], group.streams[0]),
              ncclInvalidUsage);
  EXPECT_NE(last_error().find("to self without a matching recv"), std::string::npos);
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclRecv(in.at(), 1, ncclFloat, 0, group.comms[0], group.streams[0]));
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidUsage);
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclSend(out.at(), 1, ncclFloat, 0, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclRecv(in.at(), 1, ncclFloat, 0, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclGroupEnd());
  group.synchronize();
  EXPECT_EQ(in.read(), floats(1, 1));
}

TEST(Group, ASimulatedEndStartsNothing) {
  const Ranks group(1);
  const Buffer in(0, floats(1, 3));
  const Buffer out(0, floats(1, 0));
  ncclSimInfo_t estimate = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_NCCL(ncclGroupSimulateEnd(&estimate), ncclInvalidUsage);
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(
      ncclAllReduce(in.at(), out.at(), 1, ncclFloat, ncclSum, group.comms[0], group.streams[0]));
  ASSERT_NCCL(ncclGroupSimulateEnd(&estimate));
  EXPECT_EQ(estimate.estimatedTime, 0);
  group.synchronize();
  EXPECT_EQ(out.read(), floats(1, 0));
  ASSERT_NCCL(ncclGroupStart());
  estimate.magic = 0;
  EXPECT_NCCL(ncclGroupSimulateEnd(&estimate), ncclInvalidArgument);
  ASSERT_NCCL(ncclGroupEnd());
}

TEST(Group, OperationsOnANullStreamMeanThatOfTheCommunicatorsDevice) {
  const Ranks group(3);
  std::vector<Buffer> data;
  for (int r = 0; r < 3; ++r) data.emplace_back(r, floats(5, 2));
  group.together([&](int r) {
    return ncclAllReduce(data[r].at(), data[r].at(), 5, ncclFloat, ncclProd, group.comms[r],
                         nullptr);
  });
  for (int r = 0; r < 3; ++r) {
    ASSERT_CUDA(cudaSetDevice(r));
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(data[r].read(), floats(5, 8)) << r;
  }
}

}  // namespace
}  // namespace commrig::faces
