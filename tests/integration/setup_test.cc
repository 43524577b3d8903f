// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "comm/communicator.h"

namespace commrig::integration {
namespace {

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    (void)entry;
    ++count;
  }
  return count;
}

std::size_t lines(const char* path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

struct Holdings {
  std::size_t descriptors = entries("/proc/self/fd");
  std::size_t threads = entries("/proc/self/task");
  std::size_t maps = lines("/proc/self/maps");
  std::size_t shared = entries("/dev/shm");
};

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
  const Holdings before;
  for (int i = 0; i < 1'000; ++i) cycle();
  const Holdings after;
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_LE(after.maps, before.maps + 4);  // the allocator's own
  EXPECT_EQ(after.shared, before.shared);
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
