// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Six ranks as a grid of two rows and three columns: a communicator for each row and each column.
#include <cstdio>

#include "ranks.h"

namespace {

constexpr int kColumns = 3;

bool work(commrig::Runtime& runtime, commrig::Communicator& world) {
  commrig::Stream stream = commrig::Stream::create(runtime).value();
  const int row = world.rank() / kColumns;
  const int column = world.rank() % kColumns;
  // The color says which group, the key the order in it. Of a negative color there is none.
  auto along_row = world.split(row, column).value();
  auto along_column = world.split(column, row).value();
  // The sum over a row, and then over the columns: the sum of all.
  std::int64_t sum = world.rank();
  for (auto* const comm : {&along_row, &along_column}) {
    (*comm)
        ->all_reduce(stream, {&sum, &sum}, 1, commrig::dtype_of<std::int64_t>(),
                     commrig::ReduceOp::kSum)
        .value();
  }
  stream.synchronize().value();
  if (world.rank() == 0) {
    std::printf("rows of %d, columns of %d, sum %ld\n", (*along_row).size(), (*along_column).size(),
                static_cast<long>(sum));
  }
  return sum == 0 + 1 + 2 + 3 + 4 + 5;
}

}  // namespace

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  auto comms = commrig::Communicator::create_all(runtime, 2 * kColumns).value();
  return run_ranks(comms, [&](commrig::Communicator& world) { return work(runtime, world); }) ? 0
                                                                                              : 1;
}
