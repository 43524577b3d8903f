// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "device/machine.h"
#include "faces/cli/bench/operation.h"

namespace commrig::cli::bench {

struct Effort {
  int iterations = 20;  // calls that are timed together
  int warm_up = 5;      // calls before, not timed
  int repeats = 3;      // of the timed calls; their median counts
};

// What all ranks found together.
struct Figure {
  double seconds = 0;  // of one call: see RankBench::measure
  std::uint64_t wrong = 0;
};

// The part of one rank in a measurement. It speaks to the others through the communicator alone, so
// they may be wherever a communicator reaches. Used by one thread; all ranks make the same calls.
class RankBench {
 public:
  // Memory for loads of up to that one's size. Communicator and machine must outlive it.
  static Result<std::unique_ptr<RankBench>> create(comm::Communicator& comm,
                                                   device::Machine& machine, const Load& largest);
  ~RankBench();
  RankBench(const RankBench&) = delete;
  RankBench& operator=(const RankBench&) = delete;

  // Each rank puts all calls of a repeat on its stream and waits for them; its time is that divided
  // by their number. The figure is the mean over ranks, and of the repeats the median. Then the
  // results are checked: out of place those of the timed calls, in place those of one more call.
  Result<Figure> measure(const Load& load, const Effort& effort);

 private:
  RankBench(comm::Communicator& comm, device::Machine& machine,
            std::unique_ptr<device::Stream> stream)
      : comm_(comm), machine_(machine), stream_(std::move(stream)) {}
  Status allocate(const Load& largest);
  void place(const Load& load);
  Status call(const Load& load);
  Status call_and_wait(const Load& load, int times);
  Result<std::vector<double>> time(const Load& load, const Effort& effort);
  Result<Figure> agree(const std::vector<double>& seconds, std::uint64_t wrong);

  comm::Communicator& comm_;
  device::Machine& machine_;
  std::unique_ptr<device::Stream> stream_;
  std::byte* first_ = nullptr;  // device memory of its own
  std::byte* second_ = nullptr;
  // Of the load that is measured, in these.
  std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
};

}  // namespace commrig::cli::bench
