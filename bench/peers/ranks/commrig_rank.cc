// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Ranks of commrig by its C++ interface, with ordinary host memory.
//   commrig run -n 4 peer_commrig SOCKET MEETING               a process for each rank
//   commrig run -n 4 peer_commrig SOCKET MEETING tcp           as if each had a host of its own
//   peer_commrig SOCKET MEETING threads 4                      threads of one process
#include <commrig/commrig.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "rank.h"

namespace {

using commrig::Dtype;
using commrig::ReduceOp;

struct Library {
  commrig::Communicator communicator;
  commrig::Stream stream;
};

bool failed(const commrig::Status& status) {
  if (!status) std::fprintf(stderr, "peer_commrig: %s\n", status.error().message.c_str());
  return !status;
}

int can_do(void*, const operation*) {
  return 1;
}

commrig::Status exchange(Library& library, const operation& operation, void* input, void* output) {
  commrig::Communicator& all = library.communicator;
  const int ranks = all.size();
  commrig::Group group;
  auto status = all.send(group.on(library.stream), input, operation.count, Dtype::kUint8,
                         (all.rank() + 1) % ranks);
  if (!status) return status;
  status = all.recv(group.on(library.stream), output, operation.count, Dtype::kUint8,
                    (all.rank() + ranks - 1) % ranks);
  if (!status) return status;
  return group.submit();
}

commrig::Status begin(Library& library, const operation& operation, void* input, void* output,
                      int root) {
  constexpr Dtype kTypes[] = {Dtype::kUint8, Dtype::kFp32, Dtype::kBf16};
  const Dtype type = kTypes[operation.type];
  commrig::Communicator& all = library.communicator;
  switch (operation.kind) {
    case kAllReduce:
      return all.all_reduce(library.stream, {input, output}, operation.count, type, ReduceOp::kSum);
    case kReduceScatter:
      return all.reduce_scatter(library.stream, {input, output}, operation.count, type,
                                ReduceOp::kSum);
    case kAllGather:
      return all.all_gather(library.stream, {input, output}, operation.count, type);
    case kAllToAll:
      return all.all_to_all(library.stream, {input, output}, operation.count, type);
    case kBroadcast:
      return all.broadcast(library.stream, {input, output}, operation.count, type, root);
    default:
      return exchange(library, operation, input, output);
  }
}

int call(void* library, const operation* operation, void* input, void* output, int root) {
  return failed(begin(*static_cast<Library*>(library), *operation, input, output, root));
}

int synchronize(void* library) {
  return failed(static_cast<Library*>(library)->stream.synchronize());
}

int barrier(void* library) {
  return failed(static_cast<Library*>(library)->communicator.barrier());
}

int serve_rank(Library& library, char** argv) {
  rank rank = {};
  rank.context = &library;
  rank.rank = library.communicator.rank();
  rank.ranks = library.communicator.size();
  rank.allocate = allocate_host;
  rank.release = release_host;
  rank.can_do = can_do;
  rank.call = call;
  rank.synchronize = synchronize;
  rank.barrier = barrier;
  return serve(&rank, argv[1], argv[2]);
}

int serve_threads(commrig::Runtime& runtime, int ranks, char** argv) {
  auto communicators = commrig::Communicator::create_all(runtime, ranks).value();
  std::vector<std::thread> threads;  // tidy: allow(thread) as a program of a user has them
  std::vector<int> results(communicators.size());
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    threads.emplace_back([&, i] {
      Library library{std::move(communicators[i]), commrig::Stream::create(runtime).value()};
      results[i] = serve_rank(library, argv);
    });
  }
  int result = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    if (results[i] != 0) result = results[i];
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string form = argc > 3 ? argv[3] : "processes";
  if (argc < 3 || (form == "threads") != (argc == 5)) {
    std::fprintf(stderr, "usage: %s SOCKET MEETING [tcp | threads RANKS]\n", argv[0]);
    return 2;
  }
  auto runtime = commrig::Runtime::create().value();
  if (form == "threads") return serve_threads(runtime, std::atoi(argv[4]), argv);
  commrig::CommunicatorOptions options;
  options.tcp_between_processes = form == "tcp";
  Library library{commrig::Communicator::world(runtime, options).value(),
                  commrig::Stream::create(runtime).value()};
  return serve_rank(library, argv);
}
