// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/mistake.h"

#include <memory>
#include <optional>
#include <vector>

#include "base/thread_executor.h"
#include "device/machine.h"
#include "mc2/client.h"
#include "mc2/group.h"

namespace commrig::operators {

Result<Finding> run_with_mistake() {
  constexpr int kRanks = 4;
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = kRanks});
  COMMRIG_ASSIGN(const mc2::Layout* const layout, mc2::find_layout("upstream-64"));
  COMMRIG_ASSIGN(const auto group,
                 mc2::Group::create(machine, {.layout = layout, .ranks = kRanks}));
  const auto kernel = [](device::KernelContext& context, const mc2::Layout* form, const void* where,
                         float* vector) -> Status {
    mc2::Client client(context, *form);
    COMMRIG_TRY(client.init(where));
    const std::uint64_t count = client.rank() == 2 ? 999 : 1000;
    COMMRIG_ASSIGN(
        const mc2::Handle handle,
        client.all_reduce({.send = vector, .recv = vector, .count = count}, dtype::ReduceOp::kSum));
    COMMRIG_TRY(client.commit(handle));
    COMMRIG_TRY(client.wait(handle));
    return client.finalize();
  };
  std::vector<std::unique_ptr<device::Stream>> streams;
  for (int rank = 0; rank < kRanks; ++rank) {
    COMMRIG_ASSIGN(void* const vector, machine.memory().allocate(rank, 4000));
    COMMRIG_ASSIGN(auto stream, machine.create_stream(rank));
    COMMRIG_TRY(device::launch(*stream, group->launch_config(rank), kernel, layout,
                               group->context(rank), static_cast<float*>(vector)));
    streams.push_back(std::move(stream));
  }
  // Every rank ends with the finding as its error.
  for (const auto& stream : streams) (void)machine.synchronize(*stream);
  if (const std::optional<Finding> finding = group->finding()) return *finding;
  return Error::make(Code::kWrongResult, "rank 2's mistake was not found");
}

}  // namespace commrig::operators
