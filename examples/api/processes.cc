// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// One rank a process, as a launcher starts them: commrig run -n 4 ./processes, or torchrun, mpirun
// and srun. Alone, it is a world of one rank.
#include <commrig/commrig.h>

#include <cstdio>

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  commrig::Communicator world = commrig::Communicator::world(runtime).value();
  commrig::Stream stream = commrig::Stream::create(runtime).value();

  // A second communicator, as programs make them that have other means to hand an id over: rank 0
  // makes it, and its bytes go to the others.
  commrig::UniqueId id;
  if (world.rank() == 0) id = commrig::make_unique_id(runtime).value();
  world.broadcast(stream, {&id, &id}, sizeof(id), commrig::Dtype::kUint8, 0).value();
  stream.synchronize().value();
  commrig::Communicator second =
      commrig::Communicator::create(runtime, id, world.rank(), world.size()).value();

  float sum = static_cast<float>(world.rank() + 1);
  second.all_reduce(stream, {&sum, &sum}, 1, commrig::Dtype::kFp32, commrig::ReduceOp::kSum)
      .value();
  stream.synchronize().value();
  std::printf("rank %d of %d: sum %g\n", world.rank(), world.size(), sum);
  const int n = world.size();
  return sum == static_cast<float>(n * (n + 1) / 2) ? 0 : 1;
}
