/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* A rank of an MPI library: mpirun -n 4 ./peer_openmpi SOCKET MEETING
 *
 * MPI has no bf16. Its sums are an operation of the program's own on 16-bit words, as programs that
 * train models over MPI have it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "bf16.h"
#include "rank.h"

struct library {
  MPI_Comm all;
  MPI_Datatype types[kElementTypes];
  MPI_Op sums[kElementTypes];
};

/* MPI says how many in an int. */
static int can_do(void* library, const struct operation* operation) {
  (void)library;
  return operation->count <= INT32_MAX;
}

static void add_bf16_words(void* in, void* in_out, int* count, MPI_Datatype* type) {
  (void)type;
  add_bf16(in_out, in, in_out, (size_t)*count);
}

static int exchange(const struct library* mpi, MPI_Datatype type, int count, void* input,
                    void* output) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(mpi->all, &rank);
  MPI_Comm_size(mpi->all, &ranks);
  return MPI_Sendrecv(input, count, type, (rank + 1) % ranks, 0, output, count, type,
                      (rank + ranks - 1) % ranks, 0, mpi->all, MPI_STATUS_IGNORE);
}

/* Errors end the program inside MPI, so what these return is 0. */
static int call(void* library, const struct operation* operation, void* input, void* output,
                int root) {
  const struct library* const mpi = library;
  const MPI_Datatype type = mpi->types[operation->type];
  const MPI_Op sum = mpi->sums[operation->type];
  const int count = (int)operation->count;
  switch (operation->kind) {
    case kAllReduce:
      return MPI_Allreduce(input, output, count, type, sum, mpi->all);
    case kReduceScatter:
      return MPI_Reduce_scatter_block(input, output, count, type, sum, mpi->all);
    case kAllGather:
      return MPI_Allgather(input, count, type, output, count, type, mpi->all);
    case kAllToAll:
      return MPI_Alltoall(input, count, type, output, count, type, mpi->all);
    case kBroadcast:
      return MPI_Bcast(input, count, type, root, mpi->all);
    case kSendRecv:
      return exchange(mpi, type, count, input, output);
    default:
      return 1;
  }
}

/* Calls return when they are done. */
static int synchronize(void* library) {
  (void)library;
  return 0;
}

static int barrier(void* library) {
  const struct library* const mpi = library;
  return MPI_Barrier(mpi->all);
}

int main(int argc, char** argv) {
  struct library mpi = {.all = MPI_COMM_WORLD};
  MPI_Init(&argc, &argv);
  mpi.types[kByte] = MPI_BYTE;
  mpi.types[kFp32] = MPI_FLOAT;
  mpi.types[kBf16] = MPI_UINT16_T;
  mpi.sums[kByte] = MPI_SUM;
  mpi.sums[kFp32] = MPI_SUM;
  MPI_Op_create(add_bf16_words, 1, &mpi.sums[kBf16]);

  struct rank rank = {.context = &mpi,
                      .allocate = allocate_host,
                      .release = release_host,
                      .can_do = can_do,
                      .call = call,
                      .synchronize = synchronize,
                      .barrier = barrier};
  MPI_Comm_rank(mpi.all, &rank.rank);
  MPI_Comm_size(mpi.all, &rank.ranks);
  if (argc != 3) {
    fprintf(stderr, "usage: %s SOCKET MEETING\n", argv[0]);
    MPI_Abort(mpi.all, 2);
  }
  const int failed = serve(&rank, argv[1], argv[2]);
  if (failed) MPI_Abort(mpi.all, failed);
  MPI_Op_free(&mpi.sums[kBf16]);
  MPI_Finalize();
  return 0;
}
