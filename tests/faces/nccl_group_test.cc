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

// What is called in a group is looked at again when it begins.
TEST(Group, HandlesAndBuffersThatGoBeforeItsEndAreNamed) {
  const Ranks keeps(1);
  const Buffer data(0, floats(4, 1));
  ncclComm_t comm = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&comm, 1, nullptr));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclAllReduce(data.at(), data.at(), 4, ncclFloat, ncclSum, comm, nullptr));
  ASSERT_NCCL(ncclCommDestroy(comm));
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_NE(last_error().find("has finalized this communicator"), std::string::npos);

  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&stream));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclAllReduce(data.at(), data.at(), 4, ncclFloat, ncclSum, keeps.comms[0], stream));
  ASSERT_CUDA(cudaStreamDestroy(stream));
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_NE(last_error().find("is no stream any more"), std::string::npos);

  void* freed = nullptr;
  ASSERT_CUDA(cudaMalloc(&freed, 16));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclAllReduce(freed, freed, 4, ncclFloat, ncclSum, keeps.comms[0], nullptr));
  ASSERT_CUDA(cudaFree(freed));
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_NE(last_error().find("which was freed"), std::string::npos);
}

TEST(Group, ACommunicatorThatItSetsUpCannotBeUsedBeforeItsEnd) {
  const Buffer data(0, floats(1, 1));
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclCommInitRank(&comm, 1, id, 0));
  EXPECT_NCCL(ncclAllReduce(data.at(), data.at(), 1, ncclFloat, ncclSum, comm, nullptr),
              ncclInvalidArgument);
  EXPECT_NE(last_error().find("still being set up; end the group"), std::string::npos);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(comm, nullptr) << "the set-up was dropped with the group";
}

TEST(Group, OperationsOfBlockingAndNonblockingCommunicatorsAreNotMixed) {
  const Ranks blocking(1);
  const Buffer data(0, floats(1, 2));
  ncclConfig_t config = nonblocking();
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclComm_t other = nullptr;
  EXPECT_NCCL(ncclCommInitRankConfig(&other, 1, id, 0, &config), ncclInProgress);
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) ASSERT_NCCL(ncclCommGetAsyncError(other, &state));
  ASSERT_NCCL(ncclGroupStart());
  for (const ncclComm_t comm : {blocking.comms[0], other}) {
    ASSERT_NCCL(ncclAllReduce(data.at(), data.at(), 1, ncclFloat, ncclSum, comm, nullptr));
  }
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclGroupEnd: blocking and nonblocking communicators in one group");
  ASSERT_NCCL(ncclCommDestroy(other));
}

TEST(Group, ASimulatedEndGivesTheErrorOfACallInside) {
  ncclSimInfo_t estimate = NCCL_SIM_INFO_INITIALIZER;
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclGroupStart());
  EXPECT_NCCL(ncclSend(nullptr, 1, ncclFloat, 0, nullptr, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclGroupSimulateEnd(&estimate), ncclSuccess) << "an inner one";
  EXPECT_NCCL(ncclGroupSimulateEnd(nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidUsage) << "it has ended";
}

// Of the same number of bytes, so that only the type tells.
TEST(Group, AMessageOfAnotherTypeOrLengthEndsTheCommunicatorAndIsNamed) {
  const auto expect_named = [](ncclDataType_t type, std::size_t count, const std::string& text) {
    std::vector<ncclComm_t> comms(2);
    ASSERT_NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
    const Buffer out(0, floats(4, 3));
    const Buffer in(1, floats(4, 0));
    ASSERT_NCCL(ncclGroupStart());
    ASSERT_NCCL(ncclSend(out.at(), 4, ncclFloat, 1, comms[0], nullptr));
    ASSERT_NCCL(ncclRecv(in.at(), count, type, 0, comms[1], nullptr));
    ASSERT_NCCL(ncclGroupEnd());
    ASSERT_CUDA(cudaSetDevice(1));
    EXPECT_NE(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(in.read(), floats(4, 0));
    ncclResult_t state = ncclSuccess;
    ASSERT_NCCL(ncclCommGetAsyncError(comms[1], &state));
    EXPECT_NCCL(state, ncclInvalidUsage);
    EXPECT_NE(last_error().find(text), std::string::npos) << last_error();
    for (const ncclComm_t comm : comms) ASSERT_NCCL(ncclCommAbort(comm));
    ASSERT_CUDA(cudaSetDevice(0));
    (void)cudaGetLastError();
  };
  expect_named(ncclInt, 4,
               "CR-NET02: rank 0 has sent a message of 16 bytes of fp32 to rank 1, which expected "
               "16 bytes of int32");
  expect_named(ncclDouble, 2, "which expected 16 bytes of fp64");
  expect_named(ncclFloat, 3, "which expected 12 bytes of fp32");
}

}  // namespace
}  // namespace commrig::faces
