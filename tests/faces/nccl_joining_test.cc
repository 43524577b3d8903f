// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <thread>

#include "tests/faces/ranks.h"

// How ranks join a communicator, and what its config says.
namespace commrig::faces {
namespace {

// Sums 1 over the ranks of the communicator, on a stream of its own.
int count_by_sum(ncclComm_t comm, int device) {
  EXPECT_CUDA(cudaSetDevice(device), cudaSuccess);
  const Buffer data(device, ints(1, 1));
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
  for (int r = 0; r < GetParam(); ++r) data.emplace_back(r, ints(1, 1));
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_NCCL(ncclAllReduce(data[r].at(), data[r].at(), 1, ncclInt, ncclSum, comms[r], nullptr));
  }
  ASSERT_NCCL(ncclGroupEnd());
  for (int r = 0; r < GetParam(); ++r) {
    ASSERT_CUDA(cudaSetDevice(r));
    ASSERT_CUDA(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(data[r].read(), ints(1, GetParam()));
    ASSERT_NCCL(ncclCommDestroy(comms[r]));
  }
}

TEST_P(Joining, WithoutBlockingFromOneThread) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = nonblocking();
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

TEST_P(Joining, ByTheFirstOfSeveralIds) {
  std::vector<ncclUniqueId> ids(static_cast<std::size_t>(GetParam()));
  for (ncclUniqueId& id : ids) ASSERT_NCCL(ncclGetUniqueId(&id));
  on_threads(GetParam(), [&](int rank) {
    ASSERT_CUDA(cudaSetDevice(rank));
    ncclComm_t comm = nullptr;
    ASSERT_NCCL(ncclCommInitRankScalable(&comm, GetParam(), rank, GetParam(), ids.data(), nullptr));
    EXPECT_EQ(count_by_sum(comm, rank), GetParam());
    ASSERT_NCCL(ncclCommDestroy(comm));
  });
}

TEST_P(Joining, AllAtOnceOnTheNamedDevices) {
  std::vector<int> devices;
  for (int r = 0; r < GetParam(); ++r) devices.push_back(GetParam() - 1 - r);
  std::vector<ncclComm_t> comms(devices.size());
  ASSERT_CUDA(cudaSetDevice(5));
  ASSERT_NCCL(ncclCommInitAll(comms.data(), GetParam(), devices.data()));
  int current = -1;
  ASSERT_CUDA(cudaGetDevice(&current));
  EXPECT_EQ(current, 5) << "as it was before";
  for (int r = 0; r < GetParam(); ++r) {
    std::array<int, 3> told{};
    ASSERT_NCCL(ncclCommCount(comms[r], &told[0]));
    ASSERT_NCCL(ncclCommUserRank(comms[r], &told[1]));
    ASSERT_NCCL(ncclCommCuDevice(comms[r], &told[2]));
    EXPECT_EQ(told, (std::array<int, 3>{GetParam(), r, devices[r]}));
    ASSERT_NCCL(ncclCommDestroy(comms[r]));
  }
  ASSERT_CUDA(cudaSetDevice(0));
}

TEST(Joining, ThatIsUnderWayAllowsOnlyQuestionsAndAnAbort) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = nonblocking();
  ncclComm_t comm = nullptr;
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 2, id, 1, &config), ncclInProgress);
  ncclResult_t state = ncclSuccess;
  ASSERT_NCCL(ncclCommGetAsyncError(comm, &state));
  EXPECT_NCCL(state, ncclInProgress);
  const Buffer data(0, ints(1, 1));
  ncclComm_t child = nullptr;
  ncclRedOp_t op = ncclSum;
  void* handle = nullptr;
  int number = 0;
  float factor = 1;
  const auto refused = [](ncclResult_t found) {
    EXPECT_NCCL(found, ncclInvalidArgument);
    EXPECT_NE(last_error().find("still being set up"), std::string::npos) << last_error();
  };
  refused(ncclAllReduce(data.at(), data.at(), 1, ncclInt, ncclSum, comm, nullptr));
  refused(ncclSend(data.at(), 1, ncclInt, 0, comm, nullptr));
  refused(ncclCommSplit(comm, 0, 0, &child, nullptr));
  refused(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, comm));
  refused(ncclCommRegister(comm, data.at(), 4, &handle));
  refused(ncclCommCount(comm, &number));
  EXPECT_NCCL(ncclCommAbort(comm), ncclSuccess);
}

TEST(Joining, ThatNobodyCompletesIsEndedByAnAbort) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = nonblocking();
  ncclComm_t comm = nullptr;
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_NCCL(ncclCommFinalize(comm), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommAbort(comm), ncclSuccess);
}

TEST(Joining, OfBlockingAndNonblockingCommunicatorsInOneGroupIsRefused) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = nonblocking();
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
  // So do the fields that are younger than its version.
  ASSERT_NCCL(ncclGetUniqueId(&id));
  config = NCCL_CONFIG_INITIALIZER;
  config.version = NCCL_VERSION(2, 18, 0);
  config.nvlsCTAs = -7;
  ASSERT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config));
  ASSERT_NCCL(ncclCommDestroy(comm));
  config.version = NCCL_VERSION(2, 27, 0);
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  EXPECT_NE(last_error().find("nvlsCTAs is -7"), std::string::npos) << last_error();
}

TEST(Config, TheEnvironmentWinsOverBlocking) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(setenv("NCCL_COMM_BLOCKING", "0", 1), 0);
  EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInProgress);
  ASSERT_EQ(unsetenv("NCCL_COMM_BLOCKING"), 0);
  ASSERT_NCCL(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace commrig::faces
