// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Every rank sends a large message to every other. Without a group each would wait for another that
// sends as well; the messages of a group are under way together.
#include <cstdio>

#include "ranks.h"

namespace {

using commrig::Dtype;

bool exchange(commrig::Runtime& runtime, commrig::Communicator& comm) {
  constexpr std::size_t kCount = 1 << 20;
  const auto ranks = static_cast<std::size_t>(comm.size());
  commrig::Stream stream = commrig::Stream::create(runtime).value();
  const std::vector<float> out(kCount, static_cast<float>(comm.rank()));
  std::vector<std::vector<float>> in(ranks, std::vector<float>(kCount, -1));
  commrig::Group group;
  for (int peer = 0; peer < comm.size(); ++peer) {
    float* const target = in[static_cast<std::size_t>(peer)].data();
    comm.send(group.on(stream), out.data(), kCount, Dtype::kFp32, peer).value();
    comm.recv(group.on(stream), target, kCount, Dtype::kFp32, peer).value();
  }
  group.submit().value();
  stream.synchronize().value();
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    for (const float each : in[peer]) {
      if (each != static_cast<float>(peer)) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  auto comms = commrig::Communicator::create_all(runtime, 3).value();
  if (!run_ranks(comms, [&](commrig::Communicator& comm) { return exchange(runtime, comm); })) {
    return 1;
  }
  std::printf("3 ranks exchanged 4 MiB with each other\n");
}
