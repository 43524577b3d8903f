// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Four ranks sum a vector. One thread makes the calls of all of them.
#include <commrig/commrig.h>

#include <cstdio>
#include <vector>

int main() {
  constexpr int kRanks = 4;
  constexpr std::size_t kCount = 1000;
  // value() ends the program with the error, if there is one.
  commrig::Runtime runtime = commrig::Runtime::create().value();
  std::vector<commrig::Communicator> comms =
      commrig::Communicator::create_all(runtime, kRanks).value();

  std::vector<commrig::Stream> streams;
  std::vector<std::vector<float>> data;
  for (commrig::Communicator& comm : comms) {
    streams.push_back(commrig::Stream::create(runtime).value());
    data.emplace_back(kCount, static_cast<float>(comm.rank() + 1));
    float* const buffer = data.back().data();
    // In place: input and output are one. Returns at once.
    comm.all_reduce(streams.back(), {buffer, buffer}, kCount, commrig::Dtype::kFp32,
                    commrig::ReduceOp::kSum)
        .value();
  }
  for (commrig::Stream& stream : streams) stream.synchronize().value();

  for (const std::vector<float>& sums : data) {
    for (const float sum : sums) {
      if (sum != 1 + 2 + 3 + 4) return 1;
    }
  }
  std::printf("%d ranks summed %zu numbers each: all are %g\n", kRanks, kCount, data[0][0]);
}
