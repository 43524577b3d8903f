/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* One thread drives all devices: an all-reduce whose sum every device checks.
 * Usage: one_thread [devices] */
#include "check.h"

enum { kDevicesMax = 64, kCount = 1 << 20 };

int main(int argc, char** argv) {
  int devices = 0;
  CUDA(cudaGetDeviceCount(&devices));
  if (argc > 1) devices = atoi(argv[1]);
  if (devices < 1 || devices > kDevicesMax) return 1;

  ncclComm_t comms[kDevicesMax];
  cudaStream_t streams[kDevicesMax];
  float* in[kDevicesMax];
  float* out[kDevicesMax];
  NCCL(ncclCommInitAll(comms, devices, NULL));
  for (int i = 0; i < devices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamCreate(&streams[i]));
    in[i] = make_floats(kCount, (float)(i + 1));
    out[i] = make_floats(kCount, 0);
  }

  NCCL(ncclGroupStart());
  for (int i = 0; i < devices; ++i) {
    NCCL(ncclAllReduce(in[i], out[i], kCount, ncclFloat, ncclSum, comms[i], streams[i]));
  }
  NCCL(ncclGroupEnd());

  for (int i = 0; i < devices; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaStreamSynchronize(streams[i]));
    expect_floats(out[i], kCount, (float)(devices * (devices + 1) / 2));
  }
  for (int i = 0; i < devices; ++i) {
    CUDA(cudaFree(in[i]));
    CUDA(cudaFree(out[i]));
    CUDA(cudaStreamDestroy(streams[i]));
    NCCL(ncclCommDestroy(comms[i]));
  }
  printf("one_thread: %d devices, every sum is right\n", devices);
  return 0;
}
