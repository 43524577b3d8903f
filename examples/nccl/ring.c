/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Each device sends to its right and receives from its left, all at once. The two calls of a rank
 * stand in one group; without it, all would wait for a receipt that nobody begins. */
#include "check.h"

enum { kDevices = 4, kCount = 1 << 16 };

int main(void) {
  ncclComm_t comms[kDevices];
  cudaStream_t streams[kDevices];
  float* out[kDevices];
  float* in[kDevices];
  NCCL(ncclCommInitAll(comms, kDevices, NULL));
  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamCreate(&streams[i]));
    out[i] = make_floats(kCount, (float)i);
    in[i] = make_floats(kCount, -1);
  }

  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    const int right = (i + 1) % kDevices;
    const int left = (i + kDevices - 1) % kDevices;
    NCCL(ncclSend(out[i], kCount, ncclFloat, right, comms[i], streams[i]));
    NCCL(ncclRecv(in[i], kCount, ncclFloat, left, comms[i], streams[i]));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamSynchronize(streams[i]));
    expect_floats(in[i], kCount, (float)((i + kDevices - 1) % kDevices));
    CUDA(cudaFree(in[i]));
    CUDA(cudaFree(out[i]));
    CUDA(cudaStreamDestroy(streams[i]));
  }
  for (int i = 0; i < kDevices; ++i) NCCL(ncclCommDestroy(comms[i]));
  printf("ring: every device has what its left neighbour sent\n");
  return 0;
}
