/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Processes under MPI with two devices each: mpirun -n 2 ./mpi_two_devices
 *
 * Rank 0 of MPI makes the id, which goes to all by a broadcast. Each process joins with two ranks,
 * in a group since both wait for all the others. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kDevices = 2, kCount = 1 << 20, kHostBytes = 256 };

/* How many of the processes before this one are on the same host. */
static int rank_on_host(int rank, int processes) {
  char mine[kHostBytes] = {0};
  char* all = (char*)malloc((size_t)processes * kHostBytes);
  int before = 0;
  if (all == NULL || gethostname(mine, sizeof(mine) - 1) != 0) exit(1);
  MPI_Allgather(mine, kHostBytes, MPI_CHAR, all, kHostBytes, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < rank; ++i) before += strcmp(all + i * kHostBytes, mine) == 0;
  free(all);
  return before;
}

int main(int argc, char** argv) {
  int process = 0;
  int processes = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int first_device = rank_on_host(process, processes) * kDevices;
  const int ranks = processes * kDevices;

  ncclUniqueId id;
  if (process == 0) NCCL(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);

  ncclComm_t comms[kDevices];
  cudaStream_t streams[kDevices];
  float* in[kDevices];
  float* out[kDevices];
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(first_device + i));
    NCCL(ncclCommInitRank(&comms[i], ranks, id, process * kDevices + i));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(first_device + i));
    CUDA(cudaStreamCreate(&streams[i]));
    in[i] = make_floats(kCount, (float)(process * kDevices + i + 1));
    out[i] = make_floats(kCount, 0);
  }
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    NCCL(ncclAllReduce(in[i], out[i], kCount, ncclFloat, ncclSum, comms[i], streams[i]));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(first_device + i));
    CUDA(cudaStreamSynchronize(streams[i]));
    expect_floats(out[i], kCount, (float)(ranks * (ranks + 1) / 2));
    CUDA(cudaFree(in[i]));
    CUDA(cudaFree(out[i]));
    CUDA(cudaStreamDestroy(streams[i]));
  }
  for (int i = 0; i < kDevices; ++i) NCCL(ncclCommDestroy(comms[i]));
  MPI_Finalize();
  printf("mpi_two_devices: process %d of %d, both sums are right\n", process, processes);
  return 0;
}
