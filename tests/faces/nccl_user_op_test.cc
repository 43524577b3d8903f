// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/nccl_collectives.h"

// Operations that multiply each rank's input by a scalar of its own before the sum.
namespace commrig::faces {
namespace {

// Rank r multiplies by r % 2 + 1.
double factors(int ranks) {
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += r % 2 + 1;
  return sum;
}

class UserOperations : public Collectives {
 protected:
  // Calls `check` for every type and both residences of the scalar, with an operation of each rank.
  void each(const std::function<void(const Ranks&, const Type&, const std::vector<ncclRedOp_t>&)>&
                check) const {
    const Ranks group(ranks());
    for (const Type& type : kTypes) {
      for (const bool on_device : {false, true}) {
        SCOPED_TRACE(std::string(type.name) + (on_device ? " on the device" : " at once"));
        std::vector<Buffer> scalars;
        std::vector<ncclRedOp_t> ops(static_cast<std::size_t>(ranks()));
        for (int r = 0; r < ranks(); ++r) {
          auto factor = elements(type, 1, [r](std::size_t) { return r % 2 + 1; });
          scalars.emplace_back(r, factor);
          ASSERT_NCCL(ncclRedOpCreatePreMulSum(
              &ops[r], on_device ? scalars[r].at() : factor.data(), type.type,
              on_device ? ncclScalarDevice : ncclScalarHostImmediate, group.comms[r]));
        }
        check(group, type, ops);
        for (int r = 0; r < ranks(); ++r) {
          EXPECT_NCCL(ncclRedOpDestroy(ops[r], group.comms[r]), ncclSuccess);
        }
      }
    }
  }
  static double bit(int, std::size_t i) { return static_cast<double>(i % 2); }
  std::vector<std::byte> product(const Type& type, std::size_t first = 0) const {
    return elements(type, kCount,
                    [&](std::size_t i) { return factors(ranks()) * bit(0, first + i); });
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, UserOperations, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(UserOperations, AllReduceGivesAllRanksTheSumOfTheProducts) {
  each([&](const Ranks& group, const Type& type, const std::vector<ncclRedOp_t>& ops) {
    const auto in = buffers(type, kCount, bit);
    const auto out = empty(type, kCount);
    group.together([&](int r) {
      return ncclAllReduce(in[r].at(), out[r].at(), kCount, type.type, ops[r], group.comms[r],
                           group.streams[r]);
    });
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) EXPECT_EQ(out[r].read(), product(type)) << r;
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(in[r].read(), elements(type, kCount, [](std::size_t i) { return bit(0, i); })) << r;
    }
  });
}

TEST_P(UserOperations, ReduceGivesItTheRoot) {
  each([&](const Ranks& group, const Type& type, const std::vector<ncclRedOp_t>& ops) {
    const int root = ranks() / 2;
    const auto in = buffers(type, kCount, bit);
    const auto out = empty(type, kCount);
    group.together([&](int r) {
      return ncclReduce(in[r].at(), out[r].at(), kCount, type.type, ops[r], root, group.comms[r],
                        group.streams[r]);
    });
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(),
                r == root ? product(type) : elements(type, kCount, [](std::size_t) { return 5; }))
          << r;
    }
  });
}

TEST_P(UserOperations, ReduceScatterGivesEachRankItsBlockOfIt) {
  each([&](const Ranks& group, const Type& type, const std::vector<ncclRedOp_t>& ops) {
    const auto in = buffers(type, all(), bit);
    const auto out = empty(type, kCount);
    group.together([&](int r) {
      return ncclReduceScatter(in[r].at(), out[r].at(), kCount, type.type, ops[r], group.comms[r],
                               group.streams[r]);
    });
    group.synchronize();
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(out[r].read(), product(type, static_cast<std::size_t>(r) * kCount)) << r;
    }
  });
}

TEST(UserOperation, ReadAScalarOfTheDeviceWhenTheyRunAndOneOfTheHostWhenTheyAreMade) {
  const Ranks one(1);
  const Buffer data(0, elements(kTypes[ncclInt32], 1, [](std::size_t) { return 3; }));
  const Buffer scalar(0, elements(kTypes[ncclInt32], 1, [](std::size_t) { return 2; }));
  const Buffer out(0, elements(kTypes[ncclInt32], 2, [](std::size_t) { return 0; }));
  std::int32_t factor = 2;
  ncclRedOp_t late = ncclSum;
  ncclRedOp_t early = ncclSum;
  ASSERT_NCCL(
      ncclRedOpCreatePreMulSum(&late, scalar.at(), ncclInt, ncclScalarDevice, one.comms[0]));
  ASSERT_NCCL(
      ncclRedOpCreatePreMulSum(&early, &factor, ncclInt, ncclScalarHostImmediate, one.comms[0]));
  factor = 10;
  ASSERT_CUDA(cudaMemcpy(scalar.at(), &factor, sizeof(factor), cudaMemcpyHostToDevice));
  ASSERT_NCCL(ncclAllReduce(data.at(), out.at(), 1, ncclInt, late, one.comms[0], one.streams[0]));
  ASSERT_NCCL(ncclAllReduce(data.at(), out.at(4), 1, ncclInt, early, one.comms[0], one.streams[0]));
  // What has been called with it may outlive it.
  ASSERT_NCCL(ncclRedOpDestroy(early, one.comms[0]));
  one.synchronize();
  EXPECT_EQ(out.read(),
            elements(kTypes[ncclInt32], 2, [](std::size_t i) { return i == 0 ? 30 : 6; }));
  ASSERT_NCCL(ncclRedOpDestroy(late, one.comms[0]));
}

TEST(UserOperation, AreOfOneCommunicatorAndOneType) {
  const Ranks one(1);
  const Ranks other(1);
  const Buffer data(0, std::vector<std::byte>(64));
  float factor = 2;
  ncclRedOp_t op = ncclSum;
  ASSERT_NCCL(
      ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, one.comms[0]));
  EXPECT_GE(op, ncclNumOps);
  const auto reduce = [&](ncclDataType_t type, const Ranks& ranks) {
    return ncclAllReduce(data.at(), data.at(), 1, type, op, ranks.comms[0], ranks.streams[0]);
  };
  EXPECT_NCCL(reduce(ncclFloat, one), ncclSuccess);
  EXPECT_NCCL(reduce(ncclDouble, one), ncclInvalidArgument);
  EXPECT_NE(last_error().find("was made for type 7, not 8"), std::string::npos) << last_error();
  EXPECT_NCCL(reduce(ncclFloat, other), ncclInvalidArgument);
  EXPECT_NCCL(ncclRedOpDestroy(op, other.comms[0]), ncclInvalidArgument);
  EXPECT_NCCL(ncclRedOpDestroy(op, nullptr), ncclInvalidArgument);
  EXPECT_NCCL(ncclRedOpDestroy(ncclSum, one.comms[0]), ncclInvalidArgument);
  EXPECT_NCCL(ncclRedOpDestroy(op, one.comms[0]), ncclSuccess);
  EXPECT_NCCL(ncclRedOpDestroy(op, one.comms[0]), ncclInvalidArgument);
  EXPECT_NCCL(reduce(ncclFloat, one), ncclInvalidArgument);
  one.synchronize();
}

TEST(UserOperation, NeedAScalarATypeAndAResidence) {
  const Ranks one(1);
  float factor = 2;
  ncclRedOp_t op = ncclSum;
  const auto create = [&](ncclRedOp_t* target, void* scalar, int type, int residence) {
    return ncclRedOpCreatePreMulSum(target, scalar, static_cast<ncclDataType_t>(type),
                                    static_cast<ncclScalarResidence_t>(residence), one.comms[0]);
  };
  EXPECT_NCCL(create(nullptr, &factor, ncclFloat, 1), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclRedOpCreatePreMulSum : op argument is NULL");
  EXPECT_NCCL(create(&op, nullptr, ncclFloat, 1), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclRedOpCreatePreMulSum : scalar argument is NULL");
  void* const wild = reinterpret_cast<void*>(std::uintptr_t{0x10});
  EXPECT_NCCL(create(&op, wild, ncclFloat, 1), ncclInvalidArgument);
  EXPECT_NCCL(create(&op, &factor, 12, 1), ncclInvalidArgument);
  EXPECT_NE(last_error().find("invalid type 12"), std::string::npos) << last_error();
  EXPECT_NCCL(create(&op, &factor, ncclFloat, 2), ncclInvalidArgument);
  EXPECT_NE(last_error().find("neither device nor host"), std::string::npos) << last_error();
}

TEST(UserOperation, NeedACommunicatorThatThereIs) {
  ncclComm_t gone = nullptr;
  ASSERT_NCCL(ncclCommInitAll(&gone, 1, nullptr));
  ASSERT_NCCL(ncclCommDestroy(gone));
  float factor = 2;
  for (const ncclComm_t bad :
       {gone, reinterpret_cast<ncclComm_t>(&factor), static_cast<ncclComm_t>(nullptr)}) {
    ncclRedOp_t op = ncclMax;
    EXPECT_NCCL(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, bad),
                ncclInvalidArgument);
    EXPECT_EQ(op, ncclMax);
    EXPECT_EQ(last_error().rfind("ncclRedOpCreatePreMulSum : ", 0), 0U) << last_error();
    EXPECT_NCCL(ncclRedOpDestroy(static_cast<ncclRedOp_t>(ncclNumOps), bad), ncclInvalidArgument);
    EXPECT_EQ(last_error().rfind("ncclRedOpDestroy : ", 0), 0U) << last_error();
  }
}

}  // namespace
}  // namespace commrig::faces
