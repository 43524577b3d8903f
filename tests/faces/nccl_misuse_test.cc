// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <climits>

#include "tests/faces/ranks.h"

// Wrong arguments and handles: the documented code, and a sentence that helps.
namespace commrig::faces {
namespace {

// Any call of an operation, with what matters to the checks.
struct Arguments {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  std::size_t count = 1;
  ncclDataType_t type = ncclFloat;
  ncclRedOp_t op = ncclSum;
  int root = 0;  // or peer
};

struct Call {
  const char* name;
  ncclResult_t (*call)(const Arguments& a);
  bool has_op = false;
  bool has_root = false;
};

const Call kCalls[] = {
    {"AllReduce",
     [](const Arguments& a) {
       return ncclAllReduce(a.data, a.data, a.count, a.type, a.op, a.comm, a.stream);
     },
     true},
    {"Reduce",
     [](const Arguments& a) {
       return ncclReduce(a.data, a.data, a.count, a.type, a.op, a.root, a.comm, a.stream);
     },
     true, true},
    {"ReduceScatter",
     [](const Arguments& a) {
       return ncclReduceScatter(a.data, a.data, a.count, a.type, a.op, a.comm, a.stream);
     },
     true},
    {"Broadcast",
     [](const Arguments& a) {
       return ncclBroadcast(a.data, a.data, a.count, a.type, a.root, a.comm, a.stream);
     },
     false, true},
    {"Broadcast",
     [](const Arguments& a) {
       return ncclBcast(a.data, a.count, a.type, a.root, a.comm, a.stream);
     },
     false, true},
    {"AllGather",
     [](const Arguments& a) {
       return ncclAllGather(a.data, a.data, a.count, a.type, a.comm, a.stream);
     }},
    {"AlltoAll",
     [](const Arguments& a) {
       return ncclAlltoAll(a.data, a.data, a.count, a.type, a.comm, a.stream);
     }},
    {"Gather",
     [](const Arguments& a) {
       return ncclGather(a.data, a.data, a.count, a.type, a.root, a.comm, a.stream);
     },
     false, true},
    {"Scatter",
     [](const Arguments& a) {
       return ncclScatter(a.data, a.data, a.count, a.type, a.root, a.comm, a.stream);
     },
     false, true},
    {"Send",
     [](const Arguments& a) { return ncclSend(a.data, a.count, a.type, a.root, a.comm, a.stream); },
     false, true},
    {"Recv",
     [](const Arguments& a) { return ncclRecv(a.data, a.count, a.type, a.root, a.comm, a.stream); },
     false, true},
};

class Misuse : public ::testing::TestWithParam<Call> {
 protected:
  Misuse() : group_(1), data_(0, std::vector<std::byte>(64)) {}
  Arguments good() const {
    return {.comm = group_.comms[0], .stream = group_.streams[0], .data = data_.at()};
  }
  // The call fails so, and names itself and what is wrong.
  void expect(const Arguments& arguments, const std::string& text) const {
    EXPECT_NCCL(GetParam().call(arguments), ncclInvalidArgument);
    EXPECT_EQ(last_error().rfind(GetParam().name, 0), 0U) << last_error();
    EXPECT_NE(last_error().find(text), std::string::npos) << last_error();
  }

  Ranks group_;
  Buffer data_;
};

INSTANTIATE_TEST_SUITE_P(Calls, Misuse, ::testing::ValuesIn(kCalls), [](const auto& call) {
  return std::to_string(call.index) + call.param.name;
});

TEST_P(Misuse, ACommunicatorThatIsNullGarbageOrDestroyedIsNamed) {
  Arguments bad = good();
  bad.comm = nullptr;
  expect(bad, "comm argument is NULL");
  int garbage = 0;
  bad.comm = reinterpret_cast<ncclComm_t>(&garbage);
  expect(bad, "is no communicator");
  bad.comm = reinterpret_cast<ncclComm_t>(good().stream);
  expect(bad, "is no communicator");
  ASSERT_NCCL(ncclCommInitAll(&bad.comm, 1, nullptr));
  ASSERT_NCCL(ncclCommDestroy(bad.comm));
  expect(bad, "was destroyed");
}

TEST_P(Misuse, AFinalizedCommunicatorIsNamed) {
  Arguments bad = good();
  ASSERT_NCCL(ncclCommInitAll(&bad.comm, 1, nullptr));
  ASSERT_NCCL(ncclCommFinalize(bad.comm));
  expect(bad, "is finalized");
  ASSERT_NCCL(ncclCommDestroy(bad.comm));
}

TEST_P(Misuse, ATypeThatIsNoneIsNamed) {
  for (const int type : {-1, static_cast<int>(ncclNumTypes), INT_MAX}) {
    Arguments bad = good();
    bad.type = static_cast<ncclDataType_t>(type);
    expect(bad, "invalid type");
  }
}

TEST_P(Misuse, AnOperationThatIsNoneIsNamed) {
  if (!GetParam().has_op) return expect({}, "comm argument is NULL");
  for (const int op : {-1, static_cast<int>(ncclNumOps), INT_MAX}) {
    Arguments bad = good();
    bad.op = static_cast<ncclRedOp_t>(op);
    expect(bad, "unknown to this communicator");
  }
}

TEST_P(Misuse, ARootOrPeerOutsideTheCommunicatorIsNamed) {
  if (!GetParam().has_root) return expect({}, "comm argument is NULL");
  for (const int root : {-1, 1, INT_MAX}) {
    Arguments bad = good();
    bad.root = root;
    expect(bad, "invalid");
  }
}

TEST_P(Misuse, NoElementsAreFineWhateverTheBuffers) {
  Arguments none = good();
  none.count = 0;
  none.data = nullptr;
  EXPECT_NCCL(GetParam().call(none), ncclSuccess);
}

// A message to the own rank needs its other half in the same group.
ncclResult_t call_whole(const Call& call, const Arguments& a, void* other) {
  const bool outgoing = std::string(call.name) == "Send";
  if (!outgoing && std::string(call.name) != "Recv") return call.call(a);
  EXPECT_NCCL(ncclGroupStart(), ncclSuccess);
  (void)call.call(a);
  (void)(outgoing ? ncclRecv(other, a.count, a.type, 0, a.comm, a.stream)
                  : ncclSend(other, a.count, a.type, 0, a.comm, a.stream));
  return ncclGroupEnd();
}

TEST_P(Misuse, NullFreedWildAndShortBuffersAreNamed) {
  Buffer gone(0, std::vector<std::byte>(64));
  const Buffer other(0, std::vector<std::byte>(4096));
  void* const freed = gone.at();
  {
    const Buffer ending = std::move(gone);
  }
  const auto refused = [&](const Arguments& bad, const std::string& text) {
    EXPECT_NCCL(call_whole(GetParam(), bad, other.at()), ncclInvalidArgument);
    EXPECT_NE(last_error().find(text), std::string::npos) << last_error();
  };
  Arguments bad = good();
  EXPECT_NCCL(call_whole(GetParam(), bad, other.at()), ncclSuccess);
  bad.data = nullptr;
  refused(bad, "null");
  bad.data = freed;
  refused(bad, "which was freed");
  bad.data = reinterpret_cast<void*>(std::uintptr_t{0x10});  // mapped by nobody
  refused(bad, "0x10");
  bad = good();
  bad.count = 1000;
  refused(bad, "4000 bytes at offset 0 of allocation");
  bad.count = SIZE_MAX / 2;
  refused(bad, "more than");
  group_.synchronize();
}

TEST_P(Misuse, AStreamThatIsNoneIsNamed) {
  const Buffer other(0, std::vector<std::byte>(64));
  Arguments bad = good();
  ASSERT_CUDA(cudaStreamCreate(&bad.stream));
  ASSERT_CUDA(cudaStreamDestroy(bad.stream));
  EXPECT_NCCL(call_whole(GetParam(), bad, other.at()), ncclInvalidArgument);
  EXPECT_NE(last_error().find("is no stream any more"), std::string::npos) << last_error();
}

TEST_P(Misuse, AMistakeInsideAGroupIsGivenByTheCallAndByTheEnd) {
  Arguments bad = good();
  bad.type = ncclNumTypes;
  ASSERT_NCCL(ncclGroupStart());
  EXPECT_NCCL(GetParam().call(bad), ncclInvalidArgument);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_NE(last_error().find("invalid type"), std::string::npos) << last_error();
  ASSERT_NCCL(ncclGroupStart());
  EXPECT_NCCL(ncclGroupEnd(), ncclSuccess);
}

TEST(Queries, RefuseNullAndUnknownHandles) {
  int value = 7;
  ncclResult_t result = ncclSuccess;
  EXPECT_NCCL(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "GetVersion : version argument is NULL");
  EXPECT_NCCL(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "GetUniqueId : out argument is NULL");
  ncclComm_t gone = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&gone, 1, nullptr));
  ASSERT_NCCL(ncclCommDestroy(gone));
  const std::pair<ncclComm_t, const char*> wrong[] = {
      {nullptr, " : comm argument is NULL"},
      {gone, "was destroyed or aborted before"},
      {reinterpret_cast<ncclComm_t>(&value), "is no communicator of this process"}};
  for (const auto& [comm, text] : wrong) {
    const auto named = [expected = text](const char* call, ncclResult_t found) {
      EXPECT_NCCL(found, ncclInvalidArgument);
      EXPECT_EQ(last_error().rfind(call, 0), 0U) << last_error();
      EXPECT_NE(last_error().find(expected), std::string::npos) << last_error();
    };
    named("CommCount", ncclCommCount(comm, &value));
    named("CommUserRank", ncclCommUserRank(comm, &value));
    named("CommCuDevice", ncclCommCuDevice(comm, &value));
    named("ncclGetAsyncError", ncclCommGetAsyncError(comm, &result));
  }
  EXPECT_EQ(value, 7) << "nothing is written";
  const Ranks one(1);
  EXPECT_NCCL(ncclCommCount(one.comms[0], nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommUserRank(one.comms[0], nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommCuDevice(one.comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "CommCuDevice : the result's pointer is NULL");
  EXPECT_NCCL(ncclCommGetAsyncError(one.comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclGetAsyncError : asyncError argument is NULL");
}

TEST(Lifetime, ADestroyedOrInventedHandleIsNamedEverywhere) {
  ncclComm_t gone = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&gone, 1, nullptr));
  ASSERT_NCCL(ncclCommDestroy(gone));
  int garbage = 0;
  const std::pair<ncclComm_t, const char*> wrong[] = {
      {gone, "was destroyed or aborted before"},
      {reinterpret_cast<ncclComm_t>(&garbage), "is no communicator of this process"}};
  for (const auto& [bad, text] : wrong) {
    const auto named = [expected = text](ncclResult_t found) {
      EXPECT_NCCL(found, ncclInvalidArgument);
      EXPECT_NE(last_error().find(expected), std::string::npos) << last_error();
    };
    ncclComm_t child = nullptr;
    void* handle = nullptr;
    named(ncclCommFinalize(bad));
    named(ncclCommDestroy(bad));
    named(ncclCommAbort(bad));
    named(ncclCommSplit(bad, 0, 0, &child, nullptr));
    named(ncclCommRegister(bad, &garbage, 4, &handle));
    named(ncclCommDeregister(bad, handle));
  }
  EXPECT_NCCL(ncclCommFinalize(nullptr), ncclSuccess);
  EXPECT_NCCL(ncclCommDestroy(nullptr), ncclSuccess);
  EXPECT_NCCL(ncclCommAbort(nullptr), ncclSuccess);
  EXPECT_NCCL(ncclCommSplit(nullptr, 0, 0, &gone, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommDeregister(nullptr, nullptr), ncclInvalidArgument);
}

TEST(Lifetime, FinalizingTwiceIsRefused) {
  ncclComm_t comm = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&comm, 1, nullptr));
  EXPECT_NCCL(ncclCommFinalize(comm), ncclSuccess);
  EXPECT_NCCL(ncclCommFinalize(comm), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommDestroy(comm), ncclSuccess);
}

TEST(InitAll, RefusesDevicesThatAreAbsentOrTwice) {
  ncclComm_t comms[2] = {};
  const int absent[] = {0, 1000};
  const int twice[] = {1, 1};
  EXPECT_NCCL(ncclCommInitAll(comms, -1, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommInitAll(comms, 2, absent), ncclInvalidArgument);
  EXPECT_NE(last_error().find("COMMRIG_DEVICES"), std::string::npos);
  EXPECT_NCCL(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
}

TEST(InitRank, RefusesRanksOutsideAndIdsThatNobodyMade) {
  ncclComm_t comm = nullptr;
  ncclUniqueId id{};
  EXPECT_NCCL(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  ASSERT_NCCL(ncclGetUniqueId(&id));
  EXPECT_NCCL(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  for (const int rank : {-1, 2})
    EXPECT_NCCL(ncclCommInitRank(&comm, 2, id, rank), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommInitRankScalable(&comm, 1, 0, 2, &id, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclCommInitRankScalable(&comm, 1, 0, 1, nullptr, nullptr), ncclInvalidArgument);
}

TEST(NotYet, FunctionsSaySoAndLeaveNoHandle) {
  const Ranks one(1);
  ncclComm_t child = one.comms[0];
  ncclWindow_t window = nullptr;
  EXPECT_NCCL(ncclCommShrink(one.comms[0], nullptr, 0, &child, nullptr, 0), ncclInvalidUsage);
  EXPECT_EQ(child, nullptr);
  EXPECT_NE(last_error().find("CR-RT03"), std::string::npos);
  EXPECT_NCCL(ncclCommRevoke(one.comms[0], 0), ncclInvalidUsage);
  EXPECT_NCCL(ncclCommWindowRegister(one.comms[0], nullptr, 0, &window, 0), ncclInvalidUsage);
  EXPECT_NCCL(ncclCommWindowDeregister(one.comms[0], nullptr), ncclSuccess);
}

TEST(InitRank, RefusesTwoRanksOnOneDevice) {
  ncclUniqueId id;
  EXPECT_NCCL(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comms[2] = {};
  EXPECT_CUDA(cudaSetDevice(3), cudaSuccess);
  EXPECT_NCCL(ncclGroupStart(), ncclSuccess);
  for (int r = 0; r < 2; ++r) EXPECT_NCCL(ncclCommInitRank(&comms[r], 2, id, r), ncclSuccess);
  EXPECT_NCCL(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_NE(last_error().find("ranks 0 and 1 are both on device 3 of one process"),
            std::string::npos);
  EXPECT_EQ(comms[0], nullptr);
  EXPECT_EQ(comms[1], nullptr);
  EXPECT_CUDA(cudaSetDevice(0), cudaSuccess);
}

TEST(UniqueId, FromAnAddressThatIsNoneIsRefused) {
  for (const char* const text : {"127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", "[::1", ":", "-"}) {
    ASSERT_EQ(setenv("NCCL_COMM_ID", text, 1), 0);
    ncclUniqueId id;
    EXPECT_NCCL(ncclGetUniqueId(&id), ncclInvalidArgument);
    EXPECT_NE(last_error().find("NCCL_COMM_ID"), std::string::npos);
  }
  ASSERT_EQ(unsetenv("NCCL_COMM_ID"), 0);
}

}  // namespace
}  // namespace commrig::faces
