/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Averages two ways: by ncclAvg, and by an operation that multiplies each input by a factor of its
 * rank, here its weight. */
#include "check.h"

enum { kDevices = 4, kCount = 1000 };

int main(void) {
  ncclComm_t comms[kDevices];
  ncclRedOp_t weighted[kDevices];
  float* mean[kDevices];
  float* sum[kDevices];
  NCCL(ncclCommInitAll(comms, kDevices, NULL));
  for (int i = 0; i < kDevices; ++i) {
    float weight = i == 0 ? 0.5F : 0.25F;
    CUDA(cudaSetDevice(i));
    mean[i] = make_floats(kCount, (float)i);
    sum[i] = make_floats(kCount, 8);
    NCCL(ncclRedOpCreatePreMulSum(&weighted[i], &weight, ncclFloat, ncclScalarHostImmediate,
                                  comms[i]));
  }

  NCCL(ncclGroupStart());
  for (int i = 0; i < kDevices; ++i) {
    NCCL(ncclAllReduce(mean[i], mean[i], kCount, ncclFloat, ncclAvg, comms[i], NULL));
    NCCL(ncclAllReduce(sum[i], sum[i], kCount, ncclFloat, weighted[i], comms[i], NULL));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < kDevices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaDeviceSynchronize());
    expect_floats(mean[i], kCount, 1.5F); /* (0 + 1 + 2 + 3) / 4 */
    expect_floats(sum[i], kCount, 10);    /* 8 * (0.5 + 3 * 0.25) */
    CUDA(cudaFree(mean[i]));
    CUDA(cudaFree(sum[i]));
    NCCL(ncclRedOpDestroy(weighted[i], comms[i]));
  }
  for (int i = 0; i < kDevices; ++i) NCCL(ncclCommDestroy(comms[i]));
  printf("average: both averages are right\n");
  return 0;
}
