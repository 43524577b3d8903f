// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/ranks.h"

namespace {
int seen = 0;
}

// A tool's own function in the place of the library's.
extern "C" ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                      ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream) {
  ++seen;
  return pncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream);
}

namespace commrig::faces {
namespace {

TEST(Interposing, AFunctionOfTheProgramIsCalledAndReachesTheLibrarysByItsOtherName) {
  const Ranks group(2);
  std::vector<Buffer> data;
  for (int r = 0; r < 2; ++r) {
    data.emplace_back(r, elements(kTypes[ncclFloat32], 1, [](std::size_t) { return 3; }));
  }
  group.together([&](int r) {
    return ncclAllReduce(data[r].at(), data[r].at(), 1, ncclFloat, ncclSum, group.comms[r],
                         group.streams[r]);
  });
  group.synchronize();
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(data[0].read(), elements(kTypes[ncclFloat32], 1, [](std::size_t) { return 6; }));
}

}  // namespace
}  // namespace commrig::faces
