// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <commrig/commrig.h>

#include <cstdint>
#include <vector>

static_assert(__cplusplus >= 201703L, "the interface needs C++17");

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  auto comms = commrig::Communicator::create_all(runtime, 3).value();
  std::vector<commrig::Stream> streams;
  std::int32_t values[] = {1, 20, 300};
  commrig::Group group;
  for (int rank = 0; rank < 3; ++rank) {
    streams.push_back(commrig::Stream::create(runtime).value());
  }
  for (int rank = 0; rank < 3; ++rank) {
    comms[rank]
        .all_reduce(group.on(streams[rank]), {&values[rank], &values[rank]}, 1,
                    commrig::Dtype::kInt32, commrig::ReduceOp::kSum)
        .value();
  }
  group.submit().value();
  for (commrig::Stream& stream : streams) stream.synchronize().value();
  for (const std::int32_t value : values) {
    if (value != 321) return 1;
  }
  // Where there is no launcher, the world is this one rank.
  commrig::Communicator world = commrig::Communicator::world(runtime).value();
  const commrig::UniqueId id = commrig::make_unique_id(runtime).value();
  commrig::Communicator by_id = commrig::Communicator::create(runtime, id, 0, 1).value();
  return world.size() == 1 && by_id.size() == 1 ? 0 : 1;
}
