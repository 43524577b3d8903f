// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "bootstrap/ring.h"
#include "bootstrap/root.h"
#include "comm/communicator.h"
#include "tests/integration/child_process.h"
#include "tests/integration/random_program.h"

namespace commrig::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Ranks in processes: `threads[p]` of them in process p.
struct Shape {
  std::string name;
  std::vector<int> threads;
  bool tcp = false;
  int ranks() const { return std::accumulate(threads.begin(), threads.end(), 0); }
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.name;
  }
};

// What each process has.
class Site {
 public:
  explicit Site(ThreadExecutor& executor) : machine_(executor, events_, {.devices = 1}) {
    const auto nothing = [](std::string_view) { return std::optional<std::string>(); };
    const auto facts = bootstrap::gather_host_facts(nothing);
    auto process = comm::Process::create(executor, machine_, bootstrap::identify(*facts));
    process_ = std::move(process).value();
  }
  device::Machine& machine() { return machine_; }
  comm::Process& process() { return *process_; }

 private:
  EventStream events_;
  device::Machine machine_;
  std::unique_ptr<comm::Process> process_;
};

using RankBody = std::function<Status(comm::Communicator&, device::Machine&)>;

Status run_rank(ChildProcess::Context& context, Site& site, int rank, int ranks, bool tcp,
                const RankBody& body) {
  COMMRIG_ASSIGN(auto ring, bootstrap::join_ring(context.executor, context.id, rank, ranks));
  comm::CommunicatorOptions options;
  options.team.tcp_between_processes = tcp;
  COMMRIG_ASSIGN(auto communicator, comm::Communicator::create(site.process(), *ring, options));
  return body(*communicator, site.machine());
}

// The processes of a shape, each of which runs the body for each of its ranks.
std::vector<ChildProcess> fork_ranks(const Shape& shape, const RankBody& body) {
  const int ranks = shape.ranks();
  std::vector<ChildProcess> children;
  int first = 0;
  for (const int threads : shape.threads) {
    children.emplace_back([=, tcp = shape.tcp](ChildProcess::Context& context) {
      Site site(context.executor);
      std::mutex mutex;
      std::string text;
      {
        std::vector<std::jthread> pool;
        for (int rank = first; rank < first + threads; ++rank) {
          pool.emplace_back([&, rank] {
            const Status status = run_rank(context, site, rank, ranks, tcp, body);
            const std::lock_guard lock(mutex);
            if (!status) text += "rank " + std::to_string(rank) + ": " + to_string(status.error());
          });
        }
      }
      return text.empty() ? "good" : text;
    });
    first += threads;
  }
  return children;
}

class ProcessProgram : public testing::TestWithParam<Shape> {};

TEST_P(ProcessProgram, AgreesWithTheReference) {
  const std::uint64_t seed = seed_from_environment(6'000);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  const int ranks = GetParam().ranks();
  const int usual = ranks <= 9 ? 150 : ranks <= 33 ? 60 : 10;
  ProgramOptions program{.seed = seed, .operations = operations_from_environment(usual)};
  program.bytes_max = ranks <= 9 ? std::size_t{8} << 20U : std::size_t{1} << 20U;
  const std::vector<ChildProcess> children =
      fork_ranks(GetParam(), [program](comm::Communicator& communicator, device::Machine& machine) {
        return run_random_program(program, communicator, machine);
      });
  ThreadExecutor executor;
  const auto root = *bootstrap::Root::open(executor);
  for (const ChildProcess& child : children) child.start(executor, root->id());
  for (const ChildProcess& child : children) EXPECT_EQ(child.finish(executor), "good");
}

std::vector<int> processes(int count, int threads = 1) {
  return std::vector<int>(static_cast<std::size_t>(count), threads);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ProcessProgram,
    testing::Values(Shape{"1", {1}}, Shape{"2", processes(2)}, Shape{"3", processes(3)},
                    Shape{"4By2Threads", processes(2, 2)}, Shape{"5", processes(5)},
                    Shape{"6By3Threads", processes(2, 3)},
                    Shape{"6By3ThreadsOverTcp", processes(2, 3), true}, Shape{"7Uneven", {1, 4, 2}},
                    Shape{"7UnevenOverTcp", {1, 4, 2}, true}, Shape{"8", processes(8)},
                    Shape{"8OverTcp", processes(8), true}, Shape{"9By3Threads", processes(3, 3)},
                    Shape{"16", processes(16)}, Shape{"33By3Threads", processes(11, 3)},
                    Shape{"64", processes(64)}),
    [](const auto& test) { return test.param.name; });

class Killed : public testing::TestWithParam<Shape> {};

TEST_P(Killed, ProcessIsNamedByAllOthers) {
  constexpr int kVictim = 3;
  const RankBody body = [](comm::Communicator& communicator, device::Machine& machine) -> Status {
    COMMRIG_ASSIGN(auto stream, machine.create_stream(0));
    std::vector<float> input(1000, 1.0F);
    std::vector<float> output(1000);
    while (true) {
      if (communicator.rank() == kVictim) {
        static std::atomic<int> calls{0};
        if (calls.fetch_add(1) == 20) ::kill(::getpid(), SIGKILL);
      }
      COMMRIG_TRY(communicator.enqueue(
          *stream, comm::Call{.input = input.data(), .output = output.data(), .count = 1000}));
      COMMRIG_TRY(machine.synchronize(*stream));
    }
  };
  const std::vector<ChildProcess> children = fork_ranks(GetParam(), body);
  ThreadExecutor executor;
  const auto root = *bootstrap::Root::open(executor);
  for (const ChildProcess& child : children) child.start(executor, root->id());
  for (int rank = 0; rank < static_cast<int>(children.size()); ++rank) {
    const std::string text = children[static_cast<std::size_t>(rank)].hear(executor);
    if (rank == kVictim) continue;
    EXPECT_THAT(text, HasSubstr("rank 3")) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Killed,
                         testing::Values(Shape{"OfEight", {1, 1, 1, 1, 1, 1, 1, 1}},
                                         Shape{"OfEightByTcp", {1, 1, 1, 1, 1, 1, 1, 1}, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace commrig::integration
