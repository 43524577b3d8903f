// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
// The smallest complete program with a kernel of one's own: four ranks sum a vector through the
// group's server.
#include <cstdio>
#include <memory>
#include <vector>

#include "base/thread_executor.h"
#include "device/kernel.h"
#include "device/machine.h"
#include "mc2/client.h"
#include "mc2/group.h"

namespace {

using commrig::Result;
using commrig::Status;

constexpr std::size_t kCount = 1000;

// What runs on each rank. Every call returns an error instead of hanging; pass it up.
Status sum_kernel(commrig::device::KernelContext& kernel, const commrig::mc2::Layout* layout,
                  const void* context, float* vector) {
  commrig::mc2::Client client(kernel, *layout);
  COMMRIG_TRY(client.init(context));
  COMMRIG_ASSIGN(const commrig::mc2::Handle handle,
                 client.all_reduce({.send = vector, .recv = vector, .count = kCount},
                                   commrig::dtype::ReduceOp::kSum));
  COMMRIG_TRY(client.commit(handle));
  COMMRIG_TRY(client.wait(handle));
  return client.finalize();
}

Result<float> run(int ranks) {
  commrig::ThreadExecutor executor;
  commrig::EventStream events;
  commrig::device::Machine machine(executor, events, {.devices = ranks});
  machine.set_host_threads(1);  // This thread alone launches: a rank that it forgets is named.
  COMMRIG_ASSIGN(const commrig::mc2::Layout* layout, commrig::mc2::find_layout("upstream-64"));
  COMMRIG_ASSIGN(const auto group,
                 commrig::mc2::Group::create(machine, {.layout = layout, .ranks = ranks}));
  std::vector<std::unique_ptr<commrig::device::Stream>> streams;
  std::vector<float*> vectors;
  for (int rank = 0; rank < ranks; ++rank) {
    COMMRIG_ASSIGN(void* const memory, machine.memory().allocate(rank, kCount * sizeof(float)));
    vectors.push_back(static_cast<float*>(memory));
    for (std::size_t i = 0; i < kCount; ++i) vectors.back()[i] = static_cast<float>(rank);
    COMMRIG_ASSIGN(auto stream, machine.create_stream(rank));
    streams.push_back(std::move(stream));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    COMMRIG_TRY(commrig::device::launch(*streams[index], group->launch_config(rank, "sum"),
                                        sum_kernel, layout, group->context(rank), vectors[index]));
  }
  for (const auto& stream : streams) COMMRIG_TRY(machine.synchronize(*stream));
  // A rank may be at fault without having stopped anybody, by forgetting to finalize for example.
  if (const auto finding = group->finding()) return to_error(*finding);
  for (const float* vector : vectors) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (vector[i] != vectors[0][0]) return vector[i];
    }
  }
  return vectors[0][0];
}

}  // namespace

int main() {
  const Result<float> sum = run(4);
  if (!sum) {
    std::fprintf(stderr, "%s\n", to_string(sum.error()).c_str());
    return 1;
  }
  std::printf("sum of 0..3 on every rank: %g\n", static_cast<double>(*sum));
  return *sum == 6 ? 0 : 1;
}
