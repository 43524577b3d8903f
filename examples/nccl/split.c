/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Parts of a communicator: devices with even and with odd numbers sum among themselves. */
#include "check.h"

enum { kDevices = 6, kCount = 500 };

int main(void) {
  ncclComm_t whole[kDevices];
  ncclComm_t part[kDevices];
  float* data[kDevices];
  NCCL(ncclCommInitAll(whole, kDevices, NULL));

  /* Every rank waits for the others, so one thread calls for all of them in a group. */
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) NCCL(ncclCommSplit(whole[i], i % 2, i, &part[i], NULL));
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(i));
    data[i] = make_floats(kCount, (float)i);
  }
  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    NCCL(ncclAllReduce(data[i], data[i], kCount, ncclFloat, ncclSum, part[i], NULL));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaDeviceSynchronize());
    expect_floats(data[i], kCount, i % 2 == 0 ? 0 + 2 + 4 : 1 + 3 + 5);
    CUDA(cudaFree(data[i]));
  }
  for (int i = 0; i < kDevices; ++i) {
    NCCL(ncclCommDestroy(part[i]));
    NCCL(ncclCommDestroy(whole[i]));
  }
  printf("split: both parts have their own sum\n");
  return 0;
}
