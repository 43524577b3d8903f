// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/rank_bench.h"

#include <algorithm>
#include <cstring>

#include "faces/cli/bench/data.h"

namespace commrig::cli::bench {
namespace {

constexpr int kPoison = 0xA5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<std::unique_ptr<RankBench>> RankBench::create(comm::Communicator& comm,
                                                     device::Machine& machine,
                                                     const Load& largest) {
  COMMRIG_ASSIGN(std::unique_ptr<device::Stream> stream,
                 machine.create_stream(comm.rank() % machine.devices()));
  std::unique_ptr<RankBench> bench(
      new RankBench(comm, machine, std::move(stream)));  // tidy: allow(new) private constructor
  COMMRIG_TRY(bench->allocate(largest));
  return bench;
}

Status RankBench::allocate(const Load& largest) {
  const int device = stream_->device();
  const std::size_t in = std::max<std::size_t>(1, largest.input_bytes(comm_.rank()));
  const std::size_t out = std::max<std::size_t>(1, largest.output_bytes(comm_.rank()));
  // In place, the first holds the larger of the two.
  COMMRIG_ASSIGN(void* const first, machine_.memory().allocate(device, std::max(in, out)));
  first_ = static_cast<std::byte*>(first);
  COMMRIG_ASSIGN(void* const second, machine_.memory().allocate(device, out));
  second_ = static_cast<std::byte*>(second);
  return ok();
}

RankBench::~RankBench() {
  for (std::byte* const memory : {first_, second_}) {
    if (memory != nullptr) (void)machine_.memory().release(memory);
  }
}

// Where input and output of the load lie.
void RankBench::place(const Load& load) {
  input_ = first_;
  output_ = second_;
  if (!load.in_place) return;
  const coll::Overlay overlay = coll::overlay(load.request(), comm_.rank());
  if (!overlay.exists) return;  // a rank that has only one of the two
  std::byte* const inner = first_ + overlay.offset * load.element_bytes();
  input_ = overlay.inner == coll::Buffer::kInput ? inner : first_;
  output_ = overlay.inner == coll::Buffer::kInput ? first_ : inner;
}

Status RankBench::call(const Load& load) {
  if (load.operation->collective) {
    return comm_.enqueue(*stream_, comm::Call{.collective = *load.operation->collective,
                                              .input = input_,
                                              .output = output_,
                                              .count = load.count,
                                              .dtype = load.dtype,
                                              .op = load.op,
                                              .root = load.root});
  }
  const int next = (comm_.rank() + 1) % load.ranks;
  const int previous = (comm_.rank() + load.ranks - 1) % load.ranks;
  const std::size_t bytes = load.input_bytes(comm_.rank());
  return comm_.enqueue(*stream_, {{true, next, input_, bytes}, {false, previous, output_, bytes}});
}

Status RankBench::call_and_wait(const Load& load, int times) {
  for (int i = 0; i < times; ++i) COMMRIG_TRY(call(load));
  return machine_.synchronize(*stream_);
}

Result<std::vector<double>> RankBench::time(const Load& load, const Effort& effort) {
  COMMRIG_TRY(call_and_wait(load, effort.warm_up));
  std::vector<double> seconds;
  for (int i = 0; i < effort.repeats; ++i) {
    COMMRIG_TRY(comm_.barrier());
    const Nanos begin = machine_.executor().now();
    COMMRIG_TRY(call_and_wait(load, effort.iterations));
    const std::chrono::duration<double> passed = machine_.executor().now() - begin;
    seconds.push_back(passed.count() / effort.iterations);
  }
  return seconds;
}

Result<Figure> RankBench::measure(const Load& load, const Effort& effort) {
  const Data data(load);
  const int rank = comm_.rank();
  place(load);
  const std::span<std::byte> input(input_, load.input_bytes(rank));
  const std::span<std::byte> output(output_, load.output_bytes(rank));
  std::memset(output.data(), kPoison, output.size());
  // In place, what comes out goes in again: only a constant stays in range, and is as fast.
  if (load.in_place) {
    data.fill_constant(input);
  } else {
    data.fill_input(rank, input);
  }
  COMMRIG_ASSIGN(const std::vector<double> seconds, time(load, effort));
  if (load.in_place) {
    COMMRIG_TRY(comm_.barrier());
    std::memset(output.data(), kPoison, output.size());
    data.fill_input(rank, input);
    COMMRIG_TRY(call_and_wait(load, 1));
  }
  // Nobody goes on to another load while peers still read this rank's buffers.
  COMMRIG_TRY(comm_.barrier());
  return agree(seconds, data.count_wrong(rank, output));
}

Result<Figure> RankBench::agree(const std::vector<double>& seconds, std::uint64_t wrong) {
  std::vector<double> sums(seconds.size());
  std::uint64_t all_wrong = 0;
  COMMRIG_TRY(comm_.enqueue(*stream_, comm::Call{.collective = coll::Collective::kAllReduce,
                                                 .input = seconds.data(),
                                                 .output = sums.data(),
                                                 .count = seconds.size(),
                                                 .dtype = dtype::Dtype::kFp64}));
  COMMRIG_TRY(comm_.enqueue(*stream_, comm::Call{.collective = coll::Collective::kAllReduce,
                                                 .input = &wrong,
                                                 .output = &all_wrong,
                                                 .count = 1,
                                                 .dtype = dtype::Dtype::kUint64}));
  COMMRIG_TRY(machine_.synchronize(*stream_));
  return Figure{.seconds = median(sums) / comm_.ranks(), .wrong = all_wrong};
}

}  // namespace commrig::cli::bench
