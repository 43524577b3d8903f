// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <thread>

#include "tests/faces/ranks.h"

// How communicators come to be, split, fail and go.
namespace commrig::faces {
namespace {

std::vector<std::byte> ones(std::size_t count) {
  return elements(kTypes[ncclInt32], count, [](std::size_t) { return 1; });
}
std::vector<std::byte> all_of(std::size_t count, int value) {
  return elements(kTypes[ncclInt32], count, [value](std::size_t) { return value; });
}

// Sums 1 over the ranks of the communicator, on a stream of its own.
int count_by_sum(ncclComm_t comm, int device) {
  EXPECT_CUDA(cudaSetDevice(device), cudaSuccess);
  const Buffer data(device, ones(1));
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_NCCL(ncclAllReduce(data.at(), data.at(), 1, ncclInt, ncclSum, comm, stream), ncclSuccess);
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_CUDA(cudaStreamDestroy(stream), cudaSuccess);
  std::int32_t sum = 0;
  std::memcpy(&sum, data.read().data(), sizeof(sum));
  return sum;
}

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

class Joining : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Joining, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(Joining, ByAnIdOnAThreadForEachRank) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  on_threads(GetParam(), [&](int rank) {
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclComm_t comm = nullptr;
    ASSERT_NCCL(ncclCommInitRank(&comm, GetParam(), id, rank));
    std::array<int, 3> told{};
    ASSERT_NCCL(ncclCommCount(comm, &told[0]));
    ASSERT_NCCL(ncclCommUserRank(comm, &told[1]));
    ASSERT_NCCL(ncclCommCuDevice(comm, &told[2]));
    EXPECT_EQ(told, (std::array<int, 3>{GetParam(), rank, rank}));
    EXPECT_EQ(count_by_sum(comm, rank), GetParam());
    ASSERT_NCCL(ncclCommDestroy(comm));
  });
}

TEST_P(Joining, ByAnIdInAGroupOfOneThread) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  std::vector<ncclComm_t> comms(GetParam());
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_CUDA(cudaSetDevice(r));
    ASSERT_NCCL(ncclCommInitRank(&comms[r], GetParam(), id, r));
    EXPECT_NE(comms[r], nullptr) << "given at once, usable after the group";
    EXPECT_NCCL(ncclCommFinalize(comms[r]), ncclInvalidArgument);
  }
  ASSERT_NCCL(ncclGroupEnd());
  std::vector<Buffer> data;
  for (int r = 0; r < GetParam(); ++r) data.emplace_back(r, ones(1));
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_NCCL(ncclAllReduce(data[r].at(), data[r].at(), 1, ncclInt, ncclSum, comms[r], nullptr));
  }
  ASSERT_NCCL(ncclGroupEnd());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_CUDA(cudaSetDevice(r));
    ASSERT_CUDA(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(data[r].read(), all_of(1, GetParam()));
    ASSERT_NCCL(ncclCommDestroy(comms[r]));
  }
}

TEST_P(Joining, WithoutBlockingFromOneThread) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  std::vector<ncclComm_t> comms(GetParam());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_CUDA(cudaSetDevice(r));
    EXPECT_NCCL(ncclCommInitRankConfig(&comms[r], GetParam(), id, r, &config), ncclInProgress);
  }
  for (const ncclComm_t comm : comms) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) ASSERT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_NCCL(state, ncclSuccess);
  }
  for (const ncclComm_t comm : comms) ASSERT_NCCL(ncclCommDestroy(comm));
}

TEST(Joining, ThatNobodyCompletesIsEndedByAnAbort) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_NCCL(ncclCommFinalize(comm), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommAbort(comm), ncclSuccess);
}

TEST(Joining, OfBlockingAndNonblockingCommunicatorsInOneGroupIsRefused) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comms[2] = {};
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclCommInitRank(&comms[0], 2, id, 0));
  ASSERT_NCCL(ncclCommInitRankConfig(&comms[1], 2, id, 1, &config));
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(comms[0], nullptr);
  EXPECT_EQ(comms[1], nullptr);
}

TEST(Config, StructsThatAreNotInitialisedOrOutOfRangeAreNamed) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  ncclConfig_t config = {};
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  EXPECT_NE(last_error().find("NCCL_CONFIG_INITIALIZER"), std::string::npos);
  config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  EXPECT_NE(last_error().find("blocking"), std::string::npos);
  config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 8;
  config.maxCTAs = 4;
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  // The struct of an older release ends earlier, whatever lies behind it.
  config = NCCL_CONFIG_INITIALIZER;
  config.size = offsetof(ncclConfig_t, cgaClusterSize);
  config.nvlsCTAs = -7;
  ASSERT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config));
  ASSERT_NCCL(ncclCommDestroy(comm));
}

TEST(Split, MakesOneCommunicatorForEachColorInTheOrderOfKeys) {
  const Ranks whole(4);
  std::array<ncclComm_t, 4> parts{};
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < 4; ++r) {
    const int color = r == 3 ? NCCL_SPLIT_NOCOLOR : r % 2;
    ASSERT_NCCL(ncclCommSplit(whole.comms[r], color, -r, &parts[r], nullptr));
  }
  ASSERT_NCCL(ncclGroupEnd());
  EXPECT_EQ(parts[3], nullptr);
  const std::array<std::array<int, 2>, 3> expected{{{1, 2}, {0, 1}, {0, 2}}};  // rank, ranks
  for (int r = 0; r < 3; ++r) {
    std::array<int, 2> told{};
    ASSERT_NCCL(ncclCommUserRank(parts[r], &told[0]));
    ASSERT_NCCL(ncclCommCount(parts[r], &told[1]));
    EXPECT_EQ(told, expected[r]) << r;
  }
  std::vector<Buffer> data;
  for (int r = 0; r < 3; ++r) data.emplace_back(r, ones(1));
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < 3; ++r) {
    ASSERT_NCCL(
        ncclAllReduce(data[r].at(), data[r].at(), 1, ncclInt, ncclSum, parts[r], whole.streams[r]));
  }
  ASSERT_NCCL(ncclGroupEnd());
  whole.synchronize();
  EXPECT_EQ(data[0].read(), all_of(1, 2));
  EXPECT_EQ(data[1].read(), all_of(1, 1));
  for (int r = 0; r < 3; ++r) ASSERT_NCCL(ncclCommDestroy(parts[r]));
}

TEST(Split, RefusesColorsAndPlacesThatAreNone) {
  const Ranks one(1);
  ncclComm_t part = nullptr;
  EXPECT_NCCL(ncclCommSplit(one.comms[0], -2, 0, &part, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommSplit(one.comms[0], 0, 0, nullptr, nullptr), ncclInvalidArgument);
}

TEST(Abort, EndsWhatWaitsAndLeavesTheStreamUsable) {
  const Ranks others(1);
  std::array<ncclComm_t, 2> comms{};
  ASSERT_NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
  const Buffer data(0, ones(1));
  // Rank 1 never calls.
  ASSERT_NCCL(
      ncclAllReduce(data.at(), data.at(), 1, ncclInt, ncclSum, comms[0], others.streams[0]));
  EXPECT_CUDA(cudaStreamQuery(others.streams[0]), cudaErrorNotReady);
  ASSERT_NCCL(ncclCommAbort(comms[0]));
  ncclResult_t state = ncclSuccess;
  ASSERT_NCCL(ncclCommGetAsyncError(comms[1], &state));
  EXPECT_NCCL(state, ncclRemoteError);
  ASSERT_NCCL(ncclCommAbort(comms[1]));
  EXPECT_CUDA(cudaStreamSynchronize(others.streams[0]), cudaSuccess);
  EXPECT_NCCL(
      ncclAllReduce(data.at(), data.at(), 1, ncclInt, ncclSum, others.comms[0], others.streams[0]),
      ncclSuccess);
  others.synchronize();
  (void)cudaGetLastError();
}

TEST(Mismatch, OfCallsIsAnAsyncErrorThatNamesTheCalls) {
  std::array<ncclComm_t, 2> comms{};
  ASSERT_NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
  const Buffer first(0, ones(8));
  const Buffer second(1, ones(8));
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaSetDevice(0));
  ASSERT_CUDA(cudaStreamCreate(&stream));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclAllReduce(first.at(), first.at(), 4, ncclInt, ncclSum, comms[0], stream));
  ASSERT_NCCL(ncclAllReduce(second.at(), second.at(), 8, ncclInt, ncclSum, comms[1], nullptr));
  ASSERT_NCCL(ncclGroupEnd());
  EXPECT_NE(cudaStreamSynchronize(stream), cudaSuccess);
  ncclResult_t state = ncclSuccess;
  ASSERT_NCCL(ncclCommGetAsyncError(comms[0], &state));
  EXPECT_NCCL(state, ncclInvalidUsage);
  EXPECT_NE(last_error().find("all-reduce of 8 int32"), std::string::npos) << last_error();
  for (const ncclComm_t comm : comms) ASSERT_NCCL(ncclCommAbort(comm));
  ASSERT_CUDA(cudaStreamDestroy(stream));
  (void)cudaGetLastError();
}

TEST(Memory, ForCollectivesIsDeviceMemory) {
  void* data = nullptr;
  EXPECT_NCCL(ncclMemAlloc(nullptr, 64), ncclInvalidArgument);
  EXPECT_NCCL(ncclMemAlloc(&data, 0), ncclInvalidArgument);
  ASSERT_NCCL(ncclMemAlloc(&data, 64));
  cudaPointerAttributes attributes{};
  ASSERT_CUDA(cudaPointerGetAttributes(&attributes, data));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  const Ranks one(1);
  void* handle = nullptr;
  EXPECT_NCCL(ncclCommRegister(one.comms[0], data, 0, &handle), ncclInvalidArgument);
  ASSERT_NCCL(ncclCommRegister(one.comms[0], data, 64, &handle));
  ASSERT_NCCL(ncclCommDeregister(one.comms[0], handle));
  EXPECT_NCCL(ncclCommDeregister(one.comms[0], handle), ncclInvalidArgument);
  ASSERT_NCCL(ncclMemFree(data));
  EXPECT_NCCL(ncclMemFree(data), ncclInvalidArgument);
  EXPECT_NCCL(ncclMemFree(nullptr), ncclSuccess);
}

TEST(Texts, OfResultsAreTheKnownOnes) {
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage),
               "invalid usage (run with NCCL_DEBUG=WARN for details)");
  EXPECT_STREQ(ncclGetErrorString(ncclInProgress), "NCCL operation in progress");
  EXPECT_STREQ(ncclGetErrorString(static_cast<ncclResult_t>(8)), "unknown result code");
  int version = 0;
  ASSERT_NCCL(pncclGetVersion(&version));
  EXPECT_EQ(version, 22809);
}

}  // namespace
}  // namespace commrig::faces
