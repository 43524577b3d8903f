/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* A process for each rank, without MPI: RANK and WORLD_SIZE come from the launcher, and the id goes
 * from rank 0 to the others through a file.
 * Usage: commrig run -n 4 ./processes FILE, where FILE does not exist yet */
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kCount = 1 << 18 };

static int number(const char* name) {
  const char* text = getenv(name);
  if (text == NULL) {
    fprintf(stderr, "%s is not set; start the program by commrig run or torchrun\n", name);
    exit(1);
  }
  return atoi(text);
}

/* The name appears when the file is complete. */
static void write_id(const char* path, const ncclUniqueId* id) {
  char draft[4096];
  if (snprintf(draft, sizeof(draft), "%s.draft", path) >= (int)sizeof(draft)) exit(1);
  FILE* file = fopen(draft, "wb");
  if (file == NULL || fwrite(id, sizeof(*id), 1, file) != 1) exit(1);
  if (fclose(file) != 0 || rename(draft, path) != 0) exit(1);
}

static void read_id(const char* path, ncclUniqueId* id) {
  FILE* file = NULL;
  while ((file = fopen(path, "rb")) == NULL) {
    usleep(1000);
  }
  if (fread(id, sizeof(*id), 1, file) != 1) exit(1);
  fclose(file);
}

int main(int argc, char** argv) {
  const int rank = number("RANK");
  const int ranks = number("WORLD_SIZE");
  if (argc != 2) return 1;
  CUDA(cudaSetDevice(number("LOCAL_RANK")));

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
