// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/thread_executor.h"
#include "comm/communicator.h"
#include "dtype/reduce.h"

namespace commrig::integration {
namespace {

// Any bits but those of NaNs and infinities, so that the order of a sum matters.
std::vector<std::uint32_t> random_floats(std::uint64_t seed, int rank, std::size_t count) {
  Rng rng(seed ^ static_cast<std::uint64_t>(rank) << 32U);
  std::vector<std::uint32_t> bits(count);
  for (std::uint32_t& each : bits) {
    const auto exponent = static_cast<std::uint32_t>(rng.between(100, 140));
    each = static_cast<std::uint32_t>(rng.next()) & 0x807FFFFFU;
    each |= exponent << 23U;
  }
  return bits;
}

// What the communicator makes of it, on every rank.
std::vector<std::vector<std::uint32_t>> all_reduce(const comm::CommunicatorOptions& options,
                                                   std::uint64_t seed, int ranks,
                                                   std::size_t count) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  auto comms = std::move(comm::Communicator::create_all(machine, ranks, options)).value();
  std::vector<std::vector<std::uint32_t>> outputs(static_cast<std::size_t>(ranks),
                                                  std::vector<std::uint32_t>(count));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      const std::vector<std::uint32_t> input = random_floats(seed, rank, count);
      auto stream = std::move(machine.create_stream(0)).value();
      const Status enqueued = comms[index]->enqueue(
          *stream,
          comm::Call{.input = input.data(), .output = outputs[index].data(), .count = count});
      EXPECT_TRUE(enqueued.has_value()) << to_string(enqueued.error());
      EXPECT_TRUE(machine.synchronize(*stream).has_value());
    });
  }
  threads.clear();
  return outputs;
}

std::vector<std::uint32_t> fold(std::uint64_t seed, int ranks, std::size_t count) {
  std::vector<std::vector<std::uint32_t>> inputs;
  std::vector<const void*> sources;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(random_floats(seed, rank, count));
  for (const auto& input : inputs) sources.push_back(input.data());
  std::vector<std::uint32_t> result(count);
  const Status status =
      dtype::reduce(dtype::ReduceOp::kSum, dtype::Dtype::kFp32, sources, result.data(), count);
  EXPECT_TRUE(status.has_value());
  return result;
}

TEST(Strict, BitsAreThoseOfTheFoldInRankOrderWhateverTheAlgorithmAndLink) {
  const std::uint64_t seed = seed_from_environment(77);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  for (const int ranks : {2, 3, 5, 8}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{13}, std::size_t{5'000}}) {
      const std::vector<std::uint32_t> expected = fold(seed, ranks, count);
      for (const char* const rule : {"", "all-reduce=slots", "all-reduce=direct",
                                     "all-reduce=two-shot", "all-reduce=pairwise"}) {
        comm::CommunicatorOptions options{.strict = true};
        if (*rule != '\0') options.rules = coll::Rules::parse(rule).value();
        for (const bool messages : {false, true}) {
          options.messages_only = messages && *rule == '\0';
          for (const auto& output : all_reduce(options, seed, ranks, count)) {
            ASSERT_EQ(output, expected) << ranks << " ranks, " << count << " elements, " << rule;
          }
        }
      }
    }
  }
}

// The other half: what strict mode refuses does give other bits here, so the test above can fail.
TEST(Strict, RingGivesOtherBitsAndIsRefused) {
  const comm::CommunicatorOptions ring{.rules = coll::Rules::parse("all-reduce=ring").value()};
  EXPECT_NE(all_reduce(ring, 77, 5, 5'000)[0], fold(77, 5, 5'000));
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  auto comms =
      std::move(comm::Communicator::create_all(machine, 2, {.rules = ring.rules, .strict = true}))
          .value();
  auto stream = std::move(machine.create_stream(0)).value();
  float value = 1;
  const Status status =
      comms[0]->enqueue(*stream, comm::Call{.input = &value, .output = &value, .count = 1});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kNoAlgorithm);
}

}  // namespace
}  // namespace commrig::integration
