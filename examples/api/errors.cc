// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// What commrig says when something is wrong. Nothing throws: a call returns its error.
#include <cstdio>
#include <string>

#include "ranks.h"

namespace {

using commrig::Dtype;
using commrig::ReduceOp;

bool expect(const commrig::Status& status, const std::string& id) {
  if (status) return false;
  const commrig::Error& error = status.error();
  std::printf("%s (%s)\n  %s\n  %s\n", error.id.c_str(), commrig::name(error.kind),
              error.message.c_str(), error.advice.c_str());
  return error.id == id;
}

}  // namespace

int main() {
  commrig::Runtime runtime = commrig::Runtime::create().value();
  auto comms = commrig::Communicator::create_all(runtime, 3).value();
  std::vector<commrig::Stream> streams;
  for (int rank = 0; rank < 3; ++rank) {
    streams.push_back(commrig::Stream::create(runtime).value());
  }

  // A call that cannot be meant so: device memory that ends too early. Nothing was begun.
  void* const memory = commrig::allocate(runtime, 0, 100).value();
  if (!expect(comms[0].all_reduce(streams[0], {memory, memory}, 26, Dtype::kFp32, ReduceOp::kSum),
              "CR-MEM03")) {
    return 1;
  }

  // One rank does something else than the others. All get the same error, which names it: from
  // their stream, or from the call itself if it was known by then.
  std::vector<float> data(30, 1);
  std::vector<commrig::Status> results;
  for (int rank = 0; rank < 3; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    float* const mine = data.data() + 10 * r;
    results.push_back(comms[r].all_reduce(streams[r], {mine, mine}, rank == 1 ? 9 : 10,
                                          Dtype::kFp32, ReduceOp::kSum));
  }
  for (std::size_t r = 0; r < 3; ++r) {
    if (results[r]) results[r] = streams[r].synchronize();
    if (!expect(results[r], "CR-COL18")) return 1;
  }
  return expect(comms[0].error(), "CR-COL18") ? 0 : 1;
}
