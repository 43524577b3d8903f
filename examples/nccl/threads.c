/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* A thread for each device; they find each other by an id that the main thread has made.
 * Usage: threads [ranks] */
#include <pthread.h>

#include "check.h"

enum { kRanksMax = 64, kCount = 100000 };

static int ranks = 4;
static ncclUniqueId id;

static void* run_rank(void* argument) {
  const int rank = (int)(size_t)argument;
  ncclComm_t comm;
  cudaStream_t stream;
  CUDA(cudaSetDevice(rank));
  CUDA(cudaStreamCreate(&stream));
  NCCL(ncclCommInitRank(&comm, ranks, id, rank));

  float* data = make_floats(kCount, 2);
  NCCL(ncclAllReduce(data, data, kCount, ncclFloat, ncclSum, comm, stream));
  CUDA(cudaStreamSynchronize(stream));
  expect_floats(data, kCount, (float)(2 * ranks));

  CUDA(cudaFree(data));
  CUDA(cudaStreamDestroy(stream));
  NCCL(ncclCommDestroy(comm));
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kRanksMax];
  if (argc > 1) ranks = atoi(argv[1]);
  if (ranks < 1 || ranks > kRanksMax) return 1;
  NCCL(ncclGetUniqueId(&id));
  for (int i = 0; i < ranks; ++i) {
    if (pthread_create(&threads[i], NULL, run_rank, (void*)(size_t)i) != 0) return 1;
  }
  for (int i = 0; i < ranks; ++i) pthread_join(threads[i], NULL);
  printf("threads: %d ranks, every sum is right\n", ranks);
  return 0;
}
