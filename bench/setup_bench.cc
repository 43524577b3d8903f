// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// How long it takes until a communicator is there and has summed once, beside what the same number
// of processes or threads takes that do nothing.
#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bootstrap/ring.h"
#include "bootstrap/root.h"
#include "comm/communicator.h"
#include "tests/integration/child_process.h"

namespace commrig {
namespace {

using integration::ChildProcess;

constexpr int kProcesses = 64;
constexpr int kThreadRanks = 1'024;

double seconds(Nanos time) {
  return std::chrono::duration<double>(time).count();
}

Status sum_once(device::Machine& machine, comm::Communicator& communicator) {
  COMMRIG_ASSIGN(auto stream, machine.create_stream(0));
  const std::int32_t one = 1;
  std::int32_t sum = 0;
  COMMRIG_TRY(communicator.enqueue(
      *stream,
      comm::Call{.input = &one, .output = &sum, .count = 1, .dtype = dtype::Dtype::kInt32}));
  COMMRIG_TRY(machine.synchronize(*stream));
  if (sum == communicator.ranks()) return ok();
  return Error::make(Code::kWrongResult, "a sum of ones is wrong");
}

Status join_and_sum(ChildProcess::Context& context, int rank) {
  EventStream events;
  device::Machine machine(context.executor, events, {.devices = 1});
  const auto nothing = [](std::string_view) { return std::optional<std::string>(); };
  COMMRIG_ASSIGN(const auto facts, bootstrap::gather_host_facts(nothing));
  COMMRIG_ASSIGN(auto process,
                 comm::Process::create(context.executor, machine, bootstrap::identify(facts)));
  COMMRIG_ASSIGN(auto ring, bootstrap::join_ring(context.executor, context.id, rank, kProcesses));
  COMMRIG_ASSIGN(auto communicator, comm::Communicator::create(*process, *ring));
  return sum_once(machine, *communicator);
}

// From the forks on until every child has said "good".
Result<double> time_processes(const std::function<Status(ChildProcess::Context&, int)>& body) {
  const RealClock clock;
  const Nanos start = clock.now();
  std::vector<ChildProcess> children;
  for (int rank = 0; rank < kProcesses; ++rank) {
    children.emplace_back([rank, body](ChildProcess::Context& context) {
      const Status status = body(context, rank);
      return status ? std::string("good") : to_string(status.error());
    });
  }
  ThreadExecutor executor;
  COMMRIG_ASSIGN(const auto root, bootstrap::Root::open(executor));
  for (const ChildProcess& child : children) child.start(executor, root->id());
  for (const ChildProcess& child : children) {
    const std::string text = child.hear(executor);
    if (text != "good") return Error::make(Code::kWrongResult, text);
  }
  return seconds(clock.now() - start);
}

Result<double> time_thread_ranks() {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  const Nanos start = executor.now();
  COMMRIG_ASSIGN(auto all, comm::Communicator::create_all(machine, kThreadRanks));
  std::vector<std::unique_ptr<device::Stream>> streams;
  std::vector<std::int32_t> input(all.size(), 1);
  std::vector<std::int32_t> output(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    COMMRIG_ASSIGN(auto stream, machine.create_stream(0));
    streams.push_back(std::move(stream));
    COMMRIG_TRY(all[rank]->enqueue(*streams[rank], comm::Call{.input = &input[rank],
                                                              .output = &output[rank],
                                                              .count = 1,
                                                              .dtype = dtype::Dtype::kInt32}));
  }
  for (const auto& stream : streams) COMMRIG_TRY(machine.synchronize(*stream));
  const double time = seconds(executor.now() - start);
  if (std::ranges::count(output, kThreadRanks) == kThreadRanks) return time;
  return Error::make(Code::kWrongResult, "a sum of ones is wrong");
}

Result<double> time_threads() {
  const RealClock clock;
  const Nanos start = clock.now();
  std::vector<std::jthread> threads;  // tidy: allow(thread) they are the baseline
  for (int i = 0; i < kThreadRanks; ++i) threads.emplace_back([] {});
  threads.clear();
  return seconds(clock.now() - start);
}

Result<double> median(int repeats, const std::function<Result<double>()>& measure) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    COMMRIG_ASSIGN(const double time, measure());
    times.push_back(time);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

Status run(int repeats) {
  const auto idle = [](ChildProcess::Context&, int) { return ok(); };
  COMMRIG_ASSIGN(const double forks, median(repeats, [&] { return time_processes(idle); }));
  COMMRIG_ASSIGN(const double joined, median(repeats, [] { return time_processes(join_and_sum); }));
  COMMRIG_ASSIGN(const double threads, median(repeats, time_threads));
  COMMRIG_ASSIGN(const double ranks, median(repeats, time_thread_ranks));
  fmt::print("until all have summed once, median of {}\n", repeats);
  fmt::print("{:<36} {:>9} {:>24} {:>7}\n", "", "time", "baseline", "ratio");
  const auto row = [](const std::string& what, double time, const char* name, double baseline) {
    fmt::print("{:<36} {:>6.0f} ms {:>14} {:>6.0f} ms {:>7.1f}\n", what, time * 1e3, name,
               baseline * 1e3, time / baseline);
  };
  row(fmt::format("{} processes of one host", kProcesses), joined, "idle processes", forks);
  row(fmt::format("{} ranks of one process", kThreadRanks), ranks, "idle threads", threads);
  return ok();
}

}  // namespace
}  // namespace commrig

// With any argument (those of a quick run of all benchmarks) once, else five times.
int main(int argc, char** /*argv*/) {
  const commrig::Status status = commrig::run(argc > 1 ? 1 : 5);
  if (!status) fmt::print(stderr, "commrig: {}\n", commrig::to_string(status.error()));
  return status ? 0 : 1;
}
