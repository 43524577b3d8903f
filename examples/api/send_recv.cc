// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// A number goes once around a ring of ranks, each a thread, and every rank adds 1 to it.
#include <cstdio>

#include "ranks.h"

namespace {

using commrig::Dtype;

bool pass_on(commrig::Runtime& runtime, commrig::Communicator& comm) {
  commrig::Stream stream = commrig::Stream::create(runtime).value();
  const int right = (comm.rank() + 1) % comm.size();
  const int left = (comm.rank() + comm.size() - 1) % comm.size();
  std::int32_t number = 0;
  if (comm.rank() != 0) {
    comm.recv(stream, &number, 1, Dtype::kInt32, left).value();
    stream.synchronize().value();
  }
  const std::int32_t next = number + 1;
  comm.send(stream, &next, 1, Dtype::kInt32, right).value();
  if (comm.rank() == 0) comm.recv(stream, &number, 1, Dtype::kInt32, left).value();
  stream.synchronize().value();
  if (comm.rank() != 0) return number == comm.rank();
  std::printf("the number came back as %d\n", number);
  return number == comm.size();
}

}  // namespace

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  auto comms = commrig::Communicator::create_all(runtime, 5).value();
  return run_ranks(comms, [&](commrig::Communicator& comm) { return pass_on(runtime, comm); }) ? 0
                                                                                               : 1;
}
