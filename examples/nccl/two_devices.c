/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Processes with two devices each, which need no MPI: the launcher's variables say who is who, and
 * the id goes from the first process to the others through a file.
 * Usage: commrig run -n 2 ./two_devices FILE, where FILE does not exist yet; or under torchrun, or
 * under mpirun */
#include "check.h"
#include "id_file.h"

enum { kDevices = 2, kCount = 1 << 20 };

int main(int argc, char** argv) {
  const int process = launcher_number("RANK", "OMPI_COMM_WORLD_RANK");
  const int processes = launcher_number("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE");
  const int first_device = launcher_number("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK") * kDevices;
  const int ranks = processes * kDevices;
  if (argc != 2) return 1;

  ncclUniqueId id;
  if (process == 0) {
    NCCL(ncclGetUniqueId(&id));
    write_id(argv[1], &id);
  } else {
    read_id(argv[1], &id);
  }

  /* Each rank waits for all the others, so both of this process join in a group. */
  ncclComm_t comms[kDevices];
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(first_device + i));
    NCCL(ncclCommInitRank(&comms[i], ranks, id, process * kDevices + i));
  }
  NCCL(ncclGroupEnd());

  float* data[kDevices];
  cudaStream_t streams[kDevices];
  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(first_device + i));
    CUDA(cudaStreamCreate(&streams[i]));
    data[i] = make_floats(kCount, (float)(process * kDevices + i + 1));
  }
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    NCCL(ncclAllReduce(data[i], data[i], kCount, ncclFloat, ncclSum, comms[i], streams[i]));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaStreamSynchronize(streams[i]));
    expect_floats(data[i], kCount, (float)(ranks * (ranks + 1) / 2));
    CUDA(cudaFree(data[i]));
    CUDA(cudaStreamDestroy(streams[i]));
    NCCL(ncclCommDestroy(comms[i]));
  }
  printf("two_devices: process %d of %d, both sums are right\n", process, processes);
  return 0;
}
