// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Communicators between processes that come and go leave nothing behind.
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "bootstrap/root.h"
#include "comm/lobby.h"
#include "tests/integration/child_process.h"
#include "tests/integration/holdings.h"

namespace commrig::integration {
namespace {

constexpr int kThreads = 2;  // of each of two processes
constexpr int kRanks = 2 * kThreads;
constexpr int kWarmUp = 10;
#if defined(COMMRIG_SANITIZED)
constexpr int kCycles = 200;
#else
constexpr int kCycles = 1'000;
#endif

Status call(device::Machine& machine, comm::Communicator& communicator, comm::Call call) {
  COMMRIG_ASSIGN(const auto stream, machine.create_stream(0));
  COMMRIG_TRY(communicator.enqueue(*stream, std::move(call)));
  return machine.synchronize(*stream);
}

// What one process has.
class Site {
 public:
  Site(ThreadExecutor& executor, bool tcp)
      : machine_(executor, events_, {.devices = 1}),
        lobby_(executor, machine_, [](auto) { return std::optional<std::string>(); }) {
    options_.communicator.team.tcp_between_processes = tcp;
  }

  // All cycles of one rank; what differs afterwards, by the first thread.
  Result<std::string> run(const bootstrap::UniqueId& id, int rank) {
    COMMRIG_ASSIGN(const auto world, lobby_.join(id, rank, kRanks, options_));
    for (int i = 0; i < kWarmUp; ++i) COMMRIG_TRY(cycle(*world));
    COMMRIG_ASSIGN(const Holdings before, look(*world, Holdings()));
    for (int i = 0; i < kCycles; ++i) COMMRIG_TRY(cycle(*world));
    COMMRIG_ASSIGN(const Holdings after, look(*world, before));
    return before.compare(after);
  }

 private:
  // A communicator that is made, used once and destroyed.
  Status cycle(comm::Communicator& world) {
    bootstrap::UniqueId::Bytes bytes{};
    if (world.rank() == 0) {
      COMMRIG_ASSIGN(const auto id, lobby_.make_id());
      bytes = id.bytes();
    }
    COMMRIG_TRY(call(machine_, world,
                     {.collective = coll::Collective::kBroadcast,
                      .input = bytes.data(),
                      .output = bytes.data(),
                      .count = bytes.size(),
                      .dtype = dtype::Dtype::kUint8}));
    COMMRIG_ASSIGN(const auto id, bootstrap::UniqueId::from_bytes(bytes));
    COMMRIG_ASSIGN(const auto one, lobby_.join(id, world.rank(), world.ranks(), options_));
    const std::int32_t mine = 1;
    std::int32_t sum = 0;
    COMMRIG_TRY(call(machine_, *one,
                     {.input = &mine, .output = &sum, .count = 1, .dtype = dtype::Dtype::kInt32}));
    if (sum != kRanks) return Error::make(Code::kWrongResult, std::to_string(sum));
    return one->finalize();
  }

  // When nobody has anything under way. Service threads of the last root or link may still be about
  // to end, so it looks again and again until there is no more than expected.
  Result<Holdings> look(comm::Communicator& world, const Holdings& expected) {
    constexpr int kLooks = 1'000;
    COMMRIG_TRY(world.barrier());
    Holdings holdings = Holdings::now(machine_);
    for (int i = 0; i < kLooks && !expected.compare(holdings).empty(); ++i) {
      std::this_thread::yield();
      holdings = Holdings::now(machine_);
    }
    COMMRIG_TRY(world.barrier());
    return holdings;
  }

  EventStream events_;
  device::Machine machine_;
  comm::Lobby lobby_;
  comm::JoinOptions options_;
};

std::string run_process(ChildProcess::Context& context, int first, bool tcp) {
  Site site(context.executor, tcp);
  std::vector<std::string> texts(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const Result<std::string> text = site.run(context.id, first + i);
        texts[static_cast<std::size_t>(i)] = text ? *text : to_string(text.error());
      });
    }
  }
  std::string all;
  for (const std::string& text : texts) all += text;
  return all.empty() ? "good" : all;
}

class ProcessSetup : public testing::TestWithParam<bool> {};

TEST_P(ProcessSetup, AThousandCommunicatorsLeaveEverythingAsItWas) {
  std::vector<ChildProcess> children;
  for (const int first : {0, kThreads}) {
    children.emplace_back([first, tcp = GetParam()](ChildProcess::Context& context) {
      return run_process(context, first, tcp);
    });
  }
  ThreadExecutor executor;
  const auto root = *bootstrap::Root::open(executor);
  for (const ChildProcess& child : children) child.start(executor, root->id());
  for (const ChildProcess& child : children) EXPECT_EQ(child.finish(executor), "good");
}

INSTANTIATE_TEST_SUITE_P(Links, ProcessSetup, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "Tcp" : "Shm"; });

}  // namespace
}  // namespace commrig::integration
