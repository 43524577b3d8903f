/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* A rank of NCCL, with buffers of device memory: commrig run -n 4 peer_nccl SOCKET MEETING ID
 *
 * ID is a file that does not exist yet. commrig's device memory is memory of the host too, so data
 * are written and read where they lie. */
#include "examples/nccl/check.h"
#include "examples/nccl/id_file.h"
#include "rank.h"

struct library {
  ncclComm_t comm;
  cudaStream_t stream;
  int rank;
  int ranks;
  float* word; /* for the barrier */
};

static void* allocate(void* library, size_t bytes) {
  void* memory = NULL;
  (void)library;
  CUDA(cudaMalloc(&memory, bytes));
  return memory;
}

static void release(void* library, void* memory, size_t bytes) {
  (void)library;
  (void)bytes;
  CUDA(cudaFree(memory));
}

static int can_do(void* library, const struct operation* operation) {
  (void)library;
  (void)operation;
  return 1;
}

static void exchange(const struct library* nccl, size_t count, const void* input, void* output) {
  const int next = (nccl->rank + 1) % nccl->ranks;
  const int last = (nccl->rank + nccl->ranks - 1) % nccl->ranks;
  NCCL(ncclGroupStart());
  NCCL(ncclSend(input, count, ncclUint8, next, nccl->comm, nccl->stream));
  NCCL(ncclRecv(output, count, ncclUint8, last, nccl->comm, nccl->stream));
  NCCL(ncclGroupEnd());
}

static int call(void* library, const struct operation* operation, void* input, void* output,
                int root) {
  static const ncclDataType_t kTypes[kElementTypes] = {
      [kByte] = ncclUint8, [kFp32] = ncclFloat, [kBf16] = ncclBfloat16};
  const struct library* const nccl = library;
  const ncclDataType_t type = kTypes[operation->type];
  const size_t count = operation->count;
  switch (operation->kind) {
    case kAllReduce:
      NCCL(ncclAllReduce(input, output, count, type, ncclSum, nccl->comm, nccl->stream));
      return 0;
    case kReduceScatter:
      NCCL(ncclReduceScatter(input, output, count, type, ncclSum, nccl->comm, nccl->stream));
      return 0;
    case kAllGather:
      NCCL(ncclAllGather(input, output, count, type, nccl->comm, nccl->stream));
      return 0;
    case kAllToAll:
      NCCL(ncclAlltoAll(input, output, count, type, nccl->comm, nccl->stream));
      return 0;
    case kBroadcast:
      NCCL(ncclBroadcast(input, output, count, type, root, nccl->comm, nccl->stream));
      return 0;
    default:
      exchange(nccl, count, input, output);
      return 0;
  }
}

static int synchronize(void* library) {
  const struct library* const nccl = library;
  CUDA(cudaStreamSynchronize(nccl->stream));
  return 0;
}

static int barrier(void* library) {
  const struct library* const nccl = library;
  NCCL(ncclAllReduce(nccl->word, nccl->word, 1, ncclFloat, ncclSum, nccl->comm, nccl->stream));
  return synchronize(library);
}

static ncclUniqueId id_of_job(int rank, const char* path) {
  ncclUniqueId id;
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    write_id(path, &id);
  } else {
    read_id(path, &id);
  }
  return id;
}

int main(int argc, char** argv) {
  struct library nccl = {.rank = launcher_number("RANK", NULL),
                         .ranks = launcher_number("WORLD_SIZE", NULL)};
  if (argc != 4) {
    fprintf(stderr, "usage: %s SOCKET MEETING ID\n", argv[0]);
    return 2;
  }
  CUDA(cudaSetDevice(launcher_number("LOCAL_RANK", NULL)));
  NCCL(ncclCommInitRank(&nccl.comm, nccl.ranks, id_of_job(nccl.rank, argv[3]), nccl.rank));
  CUDA(cudaStreamCreate(&nccl.stream));
  nccl.word = make_floats(1, 0);
  const struct rank rank = {.context = &nccl,
                            .rank = nccl.rank,
                            .ranks = nccl.ranks,
                            .allocate = allocate,
                            .release = release,
                            .can_do = can_do,
                            .call = call,
                            .synchronize = synchronize,
                            .barrier = barrier};
  const int failed = serve(&rank, argv[1], argv[2]);
  if (failed) return failed;
  CUDA(cudaFree(nccl.word));
  CUDA(cudaStreamDestroy(nccl.stream));
  NCCL(ncclCommDestroy(nccl.comm));
  return 0;
}
