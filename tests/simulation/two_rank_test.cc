// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "device/kernel.h"
#include "device/machine.h"
#include "mc2/client.h"
#include "mc2/group.h"
#include "tests/simulation/baton_executor.h"

// The same kernels as everywhere, under an executor that decides who runs.
namespace commrig::simulation {
namespace {

// Two ranks exchange a value through a window: data, then flag; the other waits for the flag.
Status exchange(device::KernelContext& kernel, std::byte* memory, std::uint64_t* seen) {
  COMMRIG_ASSIGN(const device::Window window, kernel.window(memory, 256, 8));
  const auto mine = static_cast<std::size_t>(kernel.rank());
  const std::size_t other = 1 - mine;
  COMMRIG_TRY(kernel.store<std::uint64_t>(window, mine * 64, 100 + mine, Order::kRelaxed));
  COMMRIG_TRY(kernel.notify<std::uint64_t>(window, 128 + mine * 64, 1));
  COMMRIG_TRY(kernel.wait<std::uint64_t>(window, 128 + other * 64, Compare::kEqual, 1,
                                         {.what = "the other's flag"}));
  COMMRIG_ASSIGN(seen[mine], kernel.load<std::uint64_t>(window, other * 64));
  return ok();
}

struct Outcome {
  std::vector<std::uint64_t> seen = {0, 0};
  std::vector<std::size_t> schedule;
  bool failed = false;
};

Outcome run_exchange(std::uint64_t seed) {
  Outcome outcome;
  BatonExecutor executor(seed);
  EventStream events;
  device::Machine machine(executor, events, {.devices = 2});
  auto* const memory = static_cast<std::byte*>(*machine.memory().allocate(0, 256));
  std::fill(memory, memory + 256, std::byte{0});
  {
    const auto first = std::move(machine.create_stream(0)).value();
    const auto second = std::move(machine.create_stream(1)).value();
    outcome.failed |= !device::launch(*first, {}, exchange, memory, outcome.seen.data());
    outcome.failed |= !device::launch(*second, {}, exchange, memory, outcome.seen.data());
    outcome.failed |= !machine.synchronize(*first) || !machine.synchronize(*second);
  }
  outcome.schedule = executor.schedule();
  return outcome;
}

TEST(TwoRanks, ExchangeIsRightUnderManySchedules) {
  const std::uint64_t first = seed_from_environment(1);
  for (std::uint64_t seed = first; seed < first + 100; ++seed) {
    SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
    const Outcome outcome = run_exchange(seed);
    ASSERT_FALSE(outcome.failed);
    ASSERT_EQ(outcome.seen, (std::vector<std::uint64_t>{101, 100}));
  }
}

TEST(TwoRanks, OneSeedGivesOneScheduleAndOthersGiveOthers) {
  const Outcome once = run_exchange(7);
  EXPECT_EQ(once.schedule, run_exchange(7).schedule);
  bool differs = false;
  for (std::uint64_t seed = 8; seed < 16; ++seed)
    differs |= run_exchange(seed).schedule != once.schedule;
  EXPECT_TRUE(differs);
}

// A whole group with its server runs under it too: all-reduce of two ranks.
Status sum(device::KernelContext& kernel, const mc2::Layout* layout, const void* context,
           float* vector) {
  mc2::Client client(kernel, *layout);
  COMMRIG_TRY(client.init(context));
  COMMRIG_ASSIGN(
      const mc2::Handle handle,
      client.all_reduce({.send = vector, .recv = vector, .count = 8}, dtype::ReduceOp::kSum));
  COMMRIG_TRY(client.commit(handle));
  COMMRIG_TRY(client.wait(handle));
  return client.finalize();
}

TEST(TwoRanks, ServerAndClientsAgreeUnderManySchedules) {
  set_log_sink(stderr_sink);
  const std::uint64_t first = seed_from_environment(1);
  for (const char* name : {"upstream-64", "readme-112"}) {
    for (std::uint64_t seed = first; seed < first + 15; ++seed) {
      SCOPED_TRACE(std::string(name) + " COMMRIG_SEED=" + std::to_string(seed));
      BatonExecutor executor(seed);
      EventStream events;
      device::Machine machine(executor, events, {.devices = 2});
      const mc2::Layout* const layout = *mc2::find_layout(name);
      const auto group =
          std::move(mc2::Group::create(machine, {.layout = layout, .ranks = 2})).value();
      std::vector<std::unique_ptr<device::Stream>> streams;
      std::vector<float*> vectors;
      for (int rank = 0; rank < 2; ++rank) {
        streams.push_back(std::move(machine.create_stream(rank)).value());
        vectors.push_back(static_cast<float*>(*machine.memory().allocate(rank, 32)));
        std::fill(vectors.back(), vectors.back() + 8, static_cast<float>(rank + 1));
        ASSERT_TRUE(device::launch(*streams.back(), group->launch_config(rank), sum, layout,
                                   group->context(rank), vectors.back()));
      }
      for (const auto& stream : streams) {
        const Status status = machine.synchronize(*stream);
        ASSERT_TRUE(status.has_value()) << to_string(status.error());
      }
      for (const float* vector : vectors) ASSERT_EQ(vector[7], 3.0F);
    }
  }
}

TEST(BatonExecutor, TimeJumpsToTheDeadlineWhenNobodyCanGoOn) {
  BatonExecutor executor(1);
  const int key = 0;
  const Status late = executor.wait({.key = &key,
                                     .ready = [] { return false; },
                                     .what = "nothing",
                                     .deadline = Nanos(3'600'000'000'000)});
  EXPECT_EQ(late.error().code, Code::kDeadline);
  EXPECT_EQ(executor.now(), Nanos(3'600'000'000'000));
  const Status never =
      executor.wait({.key = &key, .ready = [] { return false; }, .what = "nothing"});
  EXPECT_EQ(never.error().code, Code::kStalled);
}

}  // namespace
}  // namespace commrig::simulation
