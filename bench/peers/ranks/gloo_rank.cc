// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// A rank of Gloo, which has TCP alone: peer_gloo SOCKET MEETING RANK RANKS FOLDER
// FOLDER is an empty one, in which the ranks find each other.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "bf16.h"
#include "rank.h"

namespace {

using ReduceScatter = gloo::ReduceScatterHalvingDoubling<float>;

struct Library {
  std::shared_ptr<gloo::rendezvous::Context> all;
  // Its reduce-scatter is an object for one buffer, and works in place.
  std::unique_ptr<ReduceScatter> reduce_scatter;
  const void* reduce_scatter_of = nullptr;
  std::size_t reduce_scatter_count = 0;
};

// Its only reduce-scatter knows float, but not 16-bit words with a sum of ours.
int can_do(void*, const operation* operation) {
  return operation->kind != kReduceScatter || operation->type == kFp32;
}

template <class T>
void all_reduce(Library& library, const operation& operation, void* input, void* output,
                gloo::AllreduceOptions::Func sum) {
  gloo::AllreduceOptions options(library.all);
  options.setInput(static_cast<T*>(input), operation.count);
  options.setOutput(static_cast<T*>(output), operation.count);
  options.setReduceFunction(std::move(sum));
  gloo::allreduce(options);
}

void all_reduce(Library& library, const operation& operation, void* input, void* output) {
  if (operation.type == kFp32) {
    all_reduce<float>(
        library, operation, input, output,
        static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  } else {
    all_reduce<std::uint16_t>(library, operation, input, output, &add_bf16);
  }
}

void reduce_scatter(Library& library, const operation& operation, void* input) {
  if (library.reduce_scatter_of != input || library.reduce_scatter_count != operation.count) {
    const int ranks = library.all->size;
    library.reduce_scatter = std::make_unique<ReduceScatter>(
        library.all, std::vector<float*>{static_cast<float*>(input)},
        static_cast<int>(operation.count) * ranks,
        std::vector<int>(static_cast<std::size_t>(ranks), static_cast<int>(operation.count)));
    library.reduce_scatter_of = input;
    library.reduce_scatter_count = operation.count;
  }
  library.reduce_scatter->run();
}

void all_gather(Library& library, const operation& operation, void* input, void* output) {
  gloo::AllgatherOptions options(library.all);
  options.setInput(static_cast<char*>(input), input_bytes(&operation));
  options.setOutput(static_cast<char*>(output), output_bytes(&operation));
  gloo::allgather(options);
}

void all_to_all(Library& library, const operation& operation, void* input, void* output) {
  gloo::AlltoallOptions options(library.all);
  options.setInput(static_cast<char*>(input), input_bytes(&operation));
  options.setOutput(static_cast<char*>(output), output_bytes(&operation));
  gloo::alltoall(options);
}

void broadcast(Library& library, const operation& operation, void* data, int root) {
  gloo::BroadcastOptions options(library.all);
  options.setOutput(static_cast<char*>(data), output_bytes(&operation));
  options.setRoot(root);
  gloo::broadcast(options);
}

void exchange(Library& library, const operation& operation, void* input, void* output) {
  constexpr std::uint64_t kSlot = 1U << 20U;  // beside those of collectives
  const int ranks = library.all->size;
  const auto from = library.all->createUnboundBuffer(input, input_bytes(&operation));
  const auto to = library.all->createUnboundBuffer(output, output_bytes(&operation));
  to->recv((library.all->rank + ranks - 1) % ranks, kSlot);
  from->send((library.all->rank + 1) % ranks, kSlot);
  to->waitRecv();
  from->waitSend();
}

void perform(Library& library, const operation& operation, void* input, void* output, int root) {
  switch (operation.kind) {
    case kAllReduce:
      return all_reduce(library, operation, input, output);
    case kReduceScatter:
      return reduce_scatter(library, operation, input);
    case kAllGather:
      return all_gather(library, operation, input, output);
    case kAllToAll:
      return all_to_all(library, operation, input, output);
    case kBroadcast:
      return broadcast(library, operation, input, root);
    default:
      return exchange(library, operation, input, output);
  }
}

template <class Body>
int guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_gloo: %s\n", error.what());
    return 1;
  }
}

int call(void* library, const operation* operation, void* input, void* output, int root) {
  return guarded(
      [&] { perform(*static_cast<Library*>(library), *operation, input, output, root); });
}

// Calls return when they are done.
int synchronize(void*) {
  return 0;
}

int barrier(void* library) {
  return guarded([&] {
    gloo::BarrierOptions options(static_cast<Library*>(library)->all);
    gloo::barrier(options);
  });
}

// Its buffers are known to the object no more.
void release(void* library, void* memory, std::size_t bytes) {
  static_cast<Library*>(library)->reduce_scatter.reset();
  static_cast<Library*>(library)->reduce_scatter_of = nullptr;
  release_host(library, memory, bytes);
}

void connect(Library& library, int rank, int ranks, const char* folder) {
  gloo::transport::tcp::attr place;
  place.iface = "lo";
  auto device = gloo::transport::tcp::CreateDevice(place);
  gloo::rendezvous::FileStore store(folder);
  library.all = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  library.all->connectFullMesh(store, device);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s SOCKET MEETING RANK RANKS FOLDER\n", argv[0]);
    return 2;
  }
  Library library;
  rank rank = {};
  rank.context = &library;
  rank.rank = std::atoi(argv[3]);
  rank.ranks = std::atoi(argv[4]);
  rank.allocate = allocate_host;
  rank.release = release;
  rank.can_do = can_do;
  rank.call = call;
  rank.synchronize = synchronize;
  rank.barrier = barrier;
  rank.in_input[kReduceScatter] = 1;
  if (guarded([&] { connect(library, rank.rank, rank.ranks, argv[5]); }) != 0) return 1;
  return serve(&rank, argv[1], argv[2]);
}
