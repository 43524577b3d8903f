// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/thread_executor.h"
#include "tests/integration/random_program.h"

namespace commrig::integration {
namespace {

class ThreadProgram : public testing::TestWithParam<int> {
 protected:
  void run(const comm::CommunicatorOptions& options, std::uint64_t first_seed) {
    const std::uint64_t seed =
        seed_from_environment(first_seed + static_cast<std::uint64_t>(GetParam()));
    SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
    const int ranks = GetParam();
    ThreadExecutor executor;
    EventStream events;
    device::Machine machine(executor, events, {.devices = 1});
    auto comms = comm::Communicator::create_all(machine, ranks, options);
    ASSERT_TRUE(comms.has_value()) << to_string(comms.error());
    ProgramOptions program{.seed = seed, .operations = operations(ranks)};
    program.bytes_max = ranks <= 9 ? std::size_t{8} << 20U : std::size_t{1} << 20U;
    std::vector<Status> results(static_cast<std::size_t>(ranks), ok());
    {
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < results.size(); ++rank) {
        threads.emplace_back(
            [&, rank] { results[rank] = run_random_program(program, *(*comms)[rank], machine); });
      }
    }
    for (const Status& result : results) {
      EXPECT_TRUE(result.has_value()) << to_string(result.error());
    }
  }

  // With those of the processes, 10,000 in all.
  static int operations(int ranks) {
    return operations_from_environment(ranks <= 9 ? 400 : ranks <= 33 ? 200 : 50);
  }
};

TEST_P(ThreadProgram, AgreesWithTheReference) {
  run({}, 4'000);
}
TEST_P(ThreadProgram, AgreesWithTheReferenceByMessagesAlone) {
  run({.messages_only = true}, 5'000);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ThreadProgram,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64));

}  // namespace
}  // namespace commrig::integration
