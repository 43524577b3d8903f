// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/thread_executor.h"
#include "device/kernel.h"
#include "device/machine.h"
#include "mc2/client.h"
#include "mc2/group.h"

namespace commrig::mc2 {
namespace {

constexpr std::uint32_t kTurns = 255;
const std::uint64_t kCount = getenv("CNT") ? atoi(getenv("CNT")) : 256;

// One kernel a rank that commits and waits for each of 255 turns of a 1 KiB all-gather.
Status turns_kernel(device::KernelContext& kernel, const Layout* layout, const void* context,
                    float* send, float* recv) {
  Client client(kernel, *layout);
  COMMRIG_TRY(client.init(context));
  COMMRIG_ASSIGN(const Handle handle,
                 client.all_gather({.send = send, .recv = recv, .count = kCount, .repeat = kTurns}));
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
  }
  return client.finalize();
}

// Time of one turn from commit to wait, beside the number of ranks; `rank_turns` counts all ranks.
void commit_to_finished(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = ranks});
  const Layout* const layout = *find_layout("upstream-64");
  const auto group = std::move(Group::create(machine, {.layout = layout, .ranks = ranks})).value();
  std::vector<std::unique_ptr<device::Stream>> streams;
  std::vector<float*> sends;
  std::vector<float*> recvs;
  for (int rank = 0; rank < ranks; ++rank) {
    streams.push_back(std::move(machine.create_stream(rank)).value());
    const std::size_t bytes = kCount * kTurns * sizeof(float);
    sends.push_back(static_cast<float*>(*machine.memory().allocate(rank, bytes)));
    recvs.push_back(static_cast<float*>(
        *machine.memory().allocate(rank, bytes * static_cast<std::size_t>(ranks))));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const std::size_t bytes = kCount * kTurns * sizeof(float);
    device::Memory::prefault(*machine.memory().resolve(sends[i], bytes));
    device::Memory::prefault(
        *machine.memory().resolve(recvs[i], bytes * static_cast<std::size_t>(ranks)));
  }
  for (auto _ : state) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      const Status launched = device::launch(*streams[i], group->launch_config(rank), turns_kernel,
                                             layout, group->context(rank), sends[i], recvs[i]);
      if (!launched) state.SkipWithError("launch failed");
    }
    for (const auto& stream : streams) {
      if (!machine.synchronize(*stream)) state.SkipWithError("kernel failed");
    }
  }
  const auto turns = static_cast<double>(state.iterations() * kTurns);
  state.counters["turn"] =
      benchmark::Counter(turns, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["rank_turns"] = benchmark::Counter(turns * ranks, benchmark::Counter::kIsRate);
}
BENCHMARK(commit_to_finished)->Arg(1)->Arg(2)->Arg(4)->Arg(32)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace commrig::mc2
