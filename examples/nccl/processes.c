/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* A process for each rank, without MPI: RANK and WORLD_SIZE come from the launcher, and the id goes
 * from rank 0 to the others through a file.
 * Usage: commrig run -n 4 ./processes FILE, where FILE does not exist yet */
#include "check.h"
#include "id_file.h"

enum { kCount = 1 << 18 };

int main(int argc, char** argv) {
  const int rank = launcher_number("RANK", NULL);
  const int ranks = launcher_number("WORLD_SIZE", NULL);
  if (argc != 2) return 1;
  CUDA(cudaSetDevice(launcher_number("LOCAL_RANK", NULL)));

  ncclUniqueId id;
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    write_id(argv[1], &id);
  } else {
    read_id(argv[1], &id);
  }
  ncclComm_t comm;
  NCCL(ncclCommInitRank(&comm, ranks, id, rank));

  float* data = make_floats(kCount, (float)rank);
  NCCL(ncclAllReduce(data, data, kCount, ncclFloat, ncclMax, comm, NULL));
  CUDA(cudaStreamSynchronize(NULL));
  expect_floats(data, kCount, (float)(ranks - 1));
  CUDA(cudaFree(data));
  NCCL(ncclCommDestroy(comm));
  printf("processes: rank %d of %d has the largest rank\n", rank, ranks);
  return 0;
}
