// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>

#include "tests/faces/ranks.h"

// How communicators split, fail and go.
namespace commrig::faces {
namespace {

TEST(Finalizing, WaitsForWhatWasCalled) {
  std::array<ncclComm_t, 2> comms{};
  ASSERT_NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
  const Buffer first(0, ints(1000, 1));
  const Buffer second(1, ints(1000, 1));
  ASSERT_NCCL(ncclGroupStart());
  ASSERT_NCCL(ncclAllReduce(first.at(), first.at(), 1000, ncclInt, ncclSum, comms[0], nullptr));
  ASSERT_NCCL(ncclAllReduce(second.at(), second.at(), 1000, ncclInt, ncclSum, comms[1], nullptr));
  ASSERT_NCCL(ncclGroupEnd());
  for (const ncclComm_t comm : comms) ASSERT_NCCL(ncclCommFinalize(comm));
  for (int device = 0; device < 2; ++device) {
    ASSERT_CUDA(cudaSetDevice(device));
    EXPECT_CUDA(cudaStreamQuery(nullptr), cudaSuccess);
  }
  EXPECT_EQ(second.read(), ints(1000, 2));
  for (const ncclComm_t comm : comms) ASSERT_NCCL(ncclCommDestroy(comm));
  ASSERT_CUDA(cudaSetDevice(0));
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
  for (int r = 0; r < 3; ++r) data.emplace_back(r, ints(1, 1));
  ASSERT_NCCL(ncclGroupStart());
  for (int r = 0; r < 3; ++r) {
    ASSERT_NCCL(
        ncclAllReduce(data[r].at(), data[r].at(), 1, ncclInt, ncclSum, parts[r], whole.streams[r]));
  }
  ASSERT_NCCL(ncclGroupEnd());
  whole.synchronize();
  EXPECT_EQ(data[0].read(), ints(1, 2));
  EXPECT_EQ(data[1].read(), ints(1, 1));
  for (int r = 0; r < 3; ++r) ASSERT_NCCL(ncclCommDestroy(parts[r]));
}

TEST(Split, RefusesColorsPlacesConfigsAndParentsThatAreNone) {
  const Ranks one(1);
  ncclComm_t part = one.comms[0];
  EXPECT_NCCL(ncclCommSplit(one.comms[0], -2, 0, &part, nullptr), ncclInvalidArgument);
  EXPECT_NE(last_error().find("color -2"), std::string::npos) << last_error();
  EXPECT_EQ(part, nullptr);
  EXPECT_NCCL(ncclCommSplit(one.comms[0], 0, 0, nullptr, nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommSplit : newcomm argument is NULL");
  ncclConfig_t config = {};
  EXPECT_NCCL(ncclCommSplit(one.comms[0], 0, 0, &part, &config), ncclInvalidArgument);
  EXPECT_NE(last_error().find("NCCL_CONFIG_INITIALIZER"), std::string::npos) << last_error();
  ncclComm_t ended = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&ended, 1, nullptr));
  ASSERT_NCCL(ncclCommFinalize(ended));
  EXPECT_NCCL(ncclCommSplit(ended, 0, 0, &part, nullptr), ncclInvalidArgument);
  EXPECT_NE(last_error().find("is finalized"), std::string::npos) << last_error();
  ASSERT_NCCL(ncclCommDestroy(ended));
}

// Without a config it is as its parent; with one, what is not set has its default.
TEST(Split, TakesItsParentsConfigOrItsOwn) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  ncclConfig_t config = nonblocking();
  ncclComm_t parent = nullptr;
  EXPECT_NCCL(ncclCommInitRankConfig(&parent, 1, id, 0, &config), ncclInProgress);
  const auto wait = [](ncclComm_t comm) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) EXPECT_NCCL(ncclCommGetAsyncError(comm, &state), ncclSuccess);
    EXPECT_NCCL(state, ncclSuccess);
  };
  wait(parent);
  ncclComm_t child = nullptr;
  EXPECT_NCCL(ncclCommSplit(parent, 0, 0, &child, nullptr), ncclInProgress);
  wait(child);
  ASSERT_NCCL(ncclCommDestroy(child));
  ncclConfig_t blocking = NCCL_CONFIG_INITIALIZER;
  EXPECT_NCCL(ncclCommSplit(parent, 0, 0, &child, &blocking), ncclSuccess);
  ASSERT_NCCL(ncclCommDestroy(child));
  ASSERT_NCCL(ncclCommDestroy(parent));
}

TEST(Abort, EndsWhatWaitsAndLeavesTheStreamUsable) {
  const Ranks others(1);
  std::array<ncclComm_t, 2> comms{};
  ASSERT_NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
  const Buffer data(0, ints(1, 1));
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
  const Buffer first(0, ints(8, 1));
  const Buffer second(1, ints(8, 1));
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
  const std::pair<int, const char*> known[] = {
      {ncclSuccess, "no error"},
      {ncclUnhandledCudaError, "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"},
      {ncclSystemError, "unhandled system error (run with NCCL_DEBUG=INFO for details)"},
      {ncclInternalError, "internal error - please report this issue to the NCCL developers"},
      {ncclInvalidArgument, "invalid argument (run with NCCL_DEBUG=WARN for details)"},
      {ncclInvalidUsage, "invalid usage (run with NCCL_DEBUG=WARN for details)"},
      {ncclRemoteError, "remote process exited or there was a network error"},
      {ncclInProgress, "NCCL operation in progress"},
      {ncclNumResults, "unknown result code"},
      {-1, "unknown result code"}};
  for (const auto& [result, text] : known) {
    EXPECT_STREQ(ncclGetErrorString(static_cast<ncclResult_t>(result)), text);
  }
  int version = 0;
  ASSERT_NCCL(pncclGetVersion(&version));
  EXPECT_EQ(version, 22809);
}

}  // namespace
}  // namespace commrig::faces
