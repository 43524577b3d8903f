// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "mc2/group.h"
#include "mc2/group_fixture_for_test.h"

// How many ranks a group may have.
namespace commrig::mc2 {
namespace {

TEST(Group, RankCountsOutsideTheContextAreRefusedByName) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {});
  for (const int ranks : {0, -1, 257}) {
    const auto group =
        Group::create(machine, {.layout = *find_layout("upstream-64"), .ranks = ranks});
    ASSERT_FALSE(group.has_value());
    EXPECT_EQ(group.error().code, Code::kRankCount);
  }
  const auto small = Group::create(
      machine, {.layout = *find_layout("upstream-64"), .ranks = 1, .workspace_bytes = 4096});
  EXPECT_EQ(small.error().code, Code::kWorkspaceTooSmall);
}

TEST(Group, AsManyRanksAsTheTablesHoldExchangeData) {
  for (const int ranks : {33, 255, 256}) {
    GroupRig rig("upstream-64", ranks);
    const auto count = static_cast<std::size_t>(ranks);
    std::vector<std::int32_t*> sums;
    std::vector<std::int32_t*> gathered;
    for (int rank = 0; rank < ranks; ++rank) {
      sums.push_back(rig.upload(rank, std::vector<std::int32_t>{rank, 1}));
      gathered.push_back(rig.allocate<std::int32_t>(rank, 2 * count));
    }
    rig.launch_all([&](device::KernelContext&, Client& client) -> Status {
      std::int32_t* const own = sums[client.rank()];
      const Transfer reduce{.send = own, .recv = own, .count = 2, .dtype = dtype::Dtype::kInt32};
      COMMRIG_ASSIGN(const Handle sum, client.all_reduce(reduce, dtype::ReduceOp::kSum));
      COMMRIG_TRY(client.commit(sum));
      COMMRIG_TRY(client.wait(sum));
      own[0] += static_cast<std::int32_t>(client.rank());
      Transfer gather = reduce;
      gather.recv = gathered[client.rank()];
      COMMRIG_ASSIGN(const Handle all, client.all_gather(gather));
      COMMRIG_TRY(client.commit(all));
      COMMRIG_TRY(client.wait(all));
      return client.finalize();
    });
    rig.expect_success();
    for (const std::int32_t* each : gathered) {
      for (int rank = 0; rank < ranks; ++rank) {
        ASSERT_EQ(each[2 * rank], ranks * (ranks - 1) / 2 + rank);
        ASSERT_EQ(each[2 * rank + 1], ranks);
      }
    }
  }
}

}  // namespace
}  // namespace commrig::mc2
