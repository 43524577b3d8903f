// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "comm/communicator.h"
#include "tests/integration/holdings.h"

namespace commrig::integration {
namespace {

void sum_once(device::Machine& machine, std::vector<std::unique_ptr<comm::Communicator>>& comms,
              std::vector<std::unique_ptr<device::Stream>>& streams) {
  std::vector<std::int32_t> input(comms.size(), 1);
  std::vector<std::int32_t> output(comms.size());
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    ASSERT_TRUE(comms[rank]->enqueue(*streams[rank], comm::Call{.input = &input[rank],
                                                                .output = &output[rank],
                                                                .count = 1,
                                                                .dtype = dtype::Dtype::kInt32}));
  }
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    ASSERT_TRUE(machine.synchronize(*streams[rank]));
  }
  EXPECT_THAT(output, testing::Each(static_cast<std::int32_t>(comms.size())));
}

TEST(Setup, AThousandCommunicatorsLeaveEverythingAsItWas) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  std::vector<std::unique_ptr<device::Stream>> streams;
  for (int rank = 0; rank < 4; ++rank)
    streams.push_back(std::move(machine.create_stream(0)).value());
  const auto cycle = [&] {
    auto comms = std::move(comm::Communicator::create_all(machine, 4)).value();
    sum_once(machine, comms, streams);
  };
  for (int warm = 0; warm < 10; ++warm) cycle();
  const Holdings before = Holdings::now(machine);
  for (int i = 0; i < 1'000; ++i) cycle();
  EXPECT_EQ(before.compare(Holdings::now(machine)), "");
}

TEST(Setup, AThousandRanksOfOneProcessSum) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  constexpr int kRanks = 1'024;
  auto comms = std::move(comm::Communicator::create_all(machine, kRanks)).value();
  std::vector<std::unique_ptr<device::Stream>> streams;
  for (int rank = 0; rank < kRanks; ++rank)
    streams.push_back(std::move(machine.create_stream(0)).value());
  sum_once(machine, comms, streams);
}

}  // namespace
}  // namespace commrig::integration
