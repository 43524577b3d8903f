// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/group.h"

#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "mc2/group_fixture_for_test.h"

namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;

// Every element of every rank's input is different, so that a wrong block or rank shows.
std::int32_t value_of(int rank, std::size_t index) {
  return static_cast<std::int32_t>(rank * 1'000'003 + static_cast<int>(index) * 7);
}

std::vector<std::int32_t> input_of(int rank, std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  return values;
}

class GroupTest : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  GroupTest()
      : rig_(std::get<0>(GetParam()), std::get<1>(GetParam())),
        n_(static_cast<std::size_t>(rig_.ranks())) {}

  // Gives every rank an input of `sent` and an output of `received` elements, and runs `prepare` on
  // each rank with all turns committed and waited for.
  void run(std::size_t sent, std::size_t received,
           const std::function<Result<Handle>(Client&, Transfer)>& prepare,
           std::uint32_t repeat = 1) {
    std::vector<std::int32_t*> inputs;
    for (int rank = 0; rank < rig_.ranks(); ++rank) {
      inputs.push_back(rig_.upload(rank, input_of(rank, sent)));
      outputs_.push_back(rig_.allocate<std::int32_t>(rank, received, -1));
    }
    rig_.launch_all([&, inputs](device::KernelContext& context, Client& client) -> Status {
      const auto rank = static_cast<std::size_t>(context.rank());
      COMMRIG_ASSIGN(const Handle handle, prepare(client, {.send = inputs[rank],
                                                           .recv = outputs_[rank],
                                                           .dtype = Dtype::kInt32,
                                                           .repeat = repeat}));
      for (std::uint32_t turn = 0; turn < repeat; ++turn) COMMRIG_TRY(client.commit(handle));
      for (std::uint32_t turn = 0; turn < repeat; ++turn) COMMRIG_TRY(client.wait(handle));
      COMMRIG_ASSIGN(const std::uint64_t done, client.query(handle));
      EXPECT_EQ(done, repeat);
      return client.finalize();
    });
    rig_.expect_success();
  }

  GroupRig rig_;
  std::size_t n_;
  std::vector<std::int32_t*> outputs_;
};

TEST_P(GroupTest, AllReduceCombinesEveryRanksElements) {
  constexpr std::size_t kCount = 5003;
  run(kCount, kCount, [](Client& client, Transfer transfer) {
    transfer.count = kCount;
    return client.all_reduce(transfer, ReduceOp::kSum);
  });
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t i = 0; i < kCount; ++i) {
      std::int32_t expected = 0;
      for (int source = 0; source < rig_.ranks(); ++source) expected += value_of(source, i);
      ASSERT_EQ(outputs_[rank][i], expected) << "rank " << rank << " element " << i;
    }
  }
}

TEST_P(GroupTest, AllGatherWithStrideAndTurnsPutsEachTileAtItsPlace) {
  constexpr std::size_t kCount = 37;
  constexpr std::size_t kStride = 130;
  constexpr std::uint32_t kTurns = 3;
  run(
      kCount * kTurns, kStride * n_,
      [](Client& client, Transfer transfer) {
        transfer.count = kCount;
        transfer.stride = kStride;
        return client.all_gather(transfer);
      },
      kTurns);
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t i = 0; i < kStride * n_; ++i) {
      const bool gap = i % kStride >= kCount * kTurns;
      const std::int32_t expected = gap ? -1 : value_of(static_cast<int>(i / kStride), i % kStride);
      ASSERT_EQ(outputs_[rank][i], expected) << "rank " << rank << " element " << i;
    }
  }
}

TEST_P(GroupTest, PackedAllGatherKeepsTheTurnsOfARankTogether) {
  constexpr std::size_t kCount = 16;
  constexpr std::uint32_t kTurns = 4;
  run(
      kCount * kTurns, kCount * kTurns * n_,
      [](Client& client, Transfer transfer) {
        transfer.count = kCount;
        return client.all_gather(transfer);
      },
      kTurns);
  for (std::size_t i = 0; i < kCount * kTurns * n_; ++i) {
    ASSERT_EQ(outputs_[0][i],
              value_of(static_cast<int>(i / (kCount * kTurns)), i % (kCount * kTurns)));
  }
}

TEST_P(GroupTest, ReduceScatterGivesEachRankItsCombinedBlock) {
  constexpr std::size_t kCount = 257;
  run(kCount * n_, kCount, [](Client& client, Transfer transfer) {
    transfer.count = kCount;
    return client.reduce_scatter(transfer, ReduceOp::kMax);
  });
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(outputs_[rank][i], value_of(rig_.ranks() - 1, rank * kCount + i));
    }
  }
}

TEST_P(GroupTest, AllToAllExchangesBlocksInEveryTurn) {
  constexpr std::size_t kCount = 9;
  constexpr std::size_t kStride = 20;
  constexpr std::uint32_t kTurns = 2;
  run(
      kStride * n_, kStride * n_,
      [](Client& client, Transfer transfer) {
        transfer.count = kCount;
        transfer.stride = kStride;
        return client.all_to_all(transfer);
      },
      kTurns);
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t source = 0; source < n_; ++source) {
      for (std::size_t i = 0; i < kCount * kTurns; ++i) {
        ASSERT_EQ(outputs_[rank][source * kStride + i],
                  value_of(static_cast<int>(source), rank * kStride + i));
      }
    }
  }
}

TEST_P(GroupTest, AllToAllVMovesWhatTheTablesSay) {
  if (!rig_.group().layout().has_side_messages()) {
    run(8, 8, [&](Client& client, Transfer transfer) {
      const Result<Handle> refused = client.all_to_all_v(transfer, SideMessage{});
      EXPECT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code, Code::kUnsupportedCommand);
      EXPECT_NE(refused.error().message.find("readme-112"), std::string::npos)
          << refused.error().message;
      transfer.count = 1;
      return client.all_reduce(transfer, ReduceOp::kSum);
    });
    return;
  }
  // Rank r sends r + q + 1 elements to rank q (nothing from rank 0 to itself), twice.
  constexpr std::uint32_t kTurns = 2;
  const auto count = [](std::size_t from, std::size_t to) {
    return from + to == 0 ? 0 : from + to + 1;
  };
  const std::size_t room = 2 * kTurns * n_ + kTurns;
  run(
      room * n_, room * n_,
      [&](Client& client, Transfer transfer) {
        SideMessage table;
        for (std::size_t other = 0; other < n_; ++other) {
          table.send_counts[other] = count(client.rank(), other);
          table.send_offsets[other] = other * room;
          table.recv_counts[other] = count(other, client.rank());
          table.recv_offsets[other] = other * room;
        }
        return client.all_to_all_v(transfer, table);
      },
      kTurns);
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t source = 0; source < n_; ++source) {
      for (std::size_t i = 0; i < room; ++i) {
        const bool moved = i < kTurns * count(source, rank);
        ASSERT_EQ(outputs_[rank][source * room + i],
                  moved ? value_of(static_cast<int>(source), rank * room + i) : -1);
      }
    }
  }
}

TEST_P(GroupTest, InPlaceFormsGiveTheSameAsSeparateBuffers) {
  constexpr std::size_t kCount = 300;
  std::vector<std::int32_t*> reduce;
  std::vector<std::int32_t*> gather;
  std::vector<std::int32_t*> scatter;
  for (int rank = 0; rank < rig_.ranks(); ++rank) {
    reduce.push_back(rig_.upload(rank, input_of(rank, kCount)));
    gather.push_back(rig_.allocate<std::int32_t>(rank, kCount * n_, -1));
    const std::vector<std::int32_t> own = input_of(rank, kCount);
    std::ranges::copy(own, gather.back() + static_cast<std::size_t>(rank) * kCount);
    scatter.push_back(rig_.upload(rank, input_of(rank, kCount * n_)));
  }
  rig_.launch_all([&](device::KernelContext& context, Client& client) -> Status {
    const auto rank = static_cast<std::size_t>(context.rank());
    const std::size_t mine = rank * kCount;
    Transfer transfer{
        .send = reduce[rank], .recv = reduce[rank], .count = kCount, .dtype = Dtype::kInt32};
    COMMRIG_ASSIGN(const Handle first, client.all_reduce(transfer, ReduceOp::kSum));
    transfer.send = gather[rank] + mine;
    transfer.recv = gather[rank];
    COMMRIG_ASSIGN(const Handle second, client.all_gather(transfer));
    transfer.send = scatter[rank];
    transfer.recv = scatter[rank] + mine;
    COMMRIG_ASSIGN(const Handle third, client.reduce_scatter(transfer, ReduceOp::kSum));
    for (const Handle handle : {first, second, third}) {
      COMMRIG_TRY(client.commit(handle));
      COMMRIG_TRY(client.wait(handle));
    }
    return client.finalize();
  });
  rig_.expect_success();
  const auto sum = [&](std::size_t index) {
    std::int32_t total = 0;
    for (int source = 0; source < rig_.ranks(); ++source) total += value_of(source, index);
    return total;
  };
  for (std::size_t rank = 0; rank < n_; ++rank) {
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(reduce[rank][i], sum(i));
      ASSERT_EQ(scatter[rank][rank * kCount + i], sum(rank * kCount + i));
      for (std::size_t source = 0; source < n_; ++source) {
        ASSERT_EQ(gather[rank][source * kCount + i], value_of(static_cast<int>(source), i));
      }
    }
  }
}

TEST_P(GroupTest, OneKernelAfterTheOtherStartsFromCleanCounters) {
  std::vector<std::int32_t*> memory;
  for (int rank = 0; rank < rig_.ranks(); ++rank)
    memory.push_back(rig_.allocate<std::int32_t>(rank, 4, 1));
  constexpr int kKernels = 20;
  for (int kernel = 0; kernel < kKernels; ++kernel) {
    rig_.launch_all([&memory](device::KernelContext& context, Client& client) -> Status {
      std::int32_t* const mine = memory[static_cast<std::size_t>(context.rank())];
      COMMRIG_ASSIGN(
          const Handle handle,
          client.all_reduce({.send = mine, .recv = mine, .count = 4, .dtype = Dtype::kInt32},
                            ReduceOp::kMax));
      COMMRIG_TRY(client.commit(handle));
      COMMRIG_TRY(client.wait(handle));
      return client.finalize();
    });
  }
  rig_.expect_success();
  EXPECT_EQ(rig_.group().counts().turns, static_cast<std::uint64_t>(kKernels));
  EXPECT_EQ(rig_.group().counts().messages, static_cast<std::uint64_t>(kKernels) * n_);
}

TEST_P(GroupTest, AllSlotsAndAllTurnsOfAKernelCanBeUsed) {
  std::vector<std::int32_t*> memory;
  for (int rank = 0; rank < rig_.ranks(); ++rank)
    memory.push_back(rig_.allocate<std::int32_t>(rank, 255, 1));
  rig_.launch_all([&memory](device::KernelContext& context, Client& client) -> Status {
    std::int32_t* const mine = memory[static_cast<std::size_t>(context.rank())];
    const Transfer transfer{
        .send = mine, .recv = mine, .count = 1, .dtype = Dtype::kInt32, .repeat = 255};
    for (int i = 0; i < 63; ++i) {
      COMMRIG_ASSIGN(const Handle handle, client.all_reduce(transfer, ReduceOp::kMin));
      for (int turn = 0; turn < 255; ++turn) COMMRIG_TRY(client.commit(handle));
      EXPECT_EQ(client.commit(handle).error().code, Code::kCommitAboveRepeat);
      if (i % 8 == 0) COMMRIG_TRY(client.wait(handle));
    }
    EXPECT_EQ(client.all_reduce(transfer, ReduceOp::kMin).error().code, Code::kHandlesExhausted);
    return client.finalize();
  });
  rig_.expect_success();
  EXPECT_EQ(rig_.group().counts().turns, 63U * 255U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, GroupTest,
                         testing::Combine(testing::Values("upstream-64", "readme-112"),
                                          testing::Values(1, 2, 3, 4, 5, 7, 8, 32)),
                         [](const auto& parameter) {
                           std::string name = std::get<0>(parameter.param);
                           std::erase(name, '-');
                           return name + "x" + std::to_string(std::get<1>(parameter.param));
                         });

TEST(Group, RankThatSendsNothingMayNameAnyBufferAsItsSource) {
  GroupRig rig("upstream-64", 2);
  std::vector<std::int32_t*> memory;
  for (int rank = 0; rank < 2; ++rank) memory.push_back(rig.upload(rank, input_of(rank, 8)));
  std::int32_t* const target = rig.allocate<std::int32_t>(1, 4, -1);
  // Rank 0 sends two elements to rank 1, which sends none and names the middle of its target.
  rig.launch_all([&](device::KernelContext& context, Client& client) -> Status {
    SideMessage table;
    Transfer transfer{.send = memory[0], .recv = memory[0] + 4, .dtype = Dtype::kInt32};
    if (context.rank() == 0) {
      table.send_counts[1] = 2;
    } else {
      table.recv_counts[0] = 2;
      transfer.send = target + 1;
      transfer.recv = target;
    }
    COMMRIG_ASSIGN(const Handle handle, client.all_to_all_v(transfer, table));
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
    return client.finalize();
  });
  rig.expect_success();
  EXPECT_EQ(target[1], value_of(0, 1));
  EXPECT_EQ(target[2], -1);
}

}  // namespace
}  // namespace commrig::mc2
