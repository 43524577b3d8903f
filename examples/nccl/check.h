/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef EXAMPLES_NCCL_CHECK_H
#define EXAMPLES_NCCL_CHECK_H

#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

/* Both end the program with what the library says. */
#define CUDA(call)                                                                         \
  do {                                                                                     \
    cudaError_t cuda_result = (call);                                                      \
    if (cuda_result != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(cuda_result)); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#define NCCL(call)                                                                            \
  do {                                                                                        \
    ncclResult_t nccl_result = (call);                                                        \
    if (nccl_result != ncclSuccess) {                                                         \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, ncclGetErrorString(nccl_result), \
              ncclGetLastError(NULL));                                                        \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

/* Device memory of `count` floats, each of which is `value`. */
static inline float* make_floats(size_t count, float value) {
  float* host = (float*)malloc(count * sizeof(float));
  float* device = NULL;
  if (host == NULL) exit(1);
  for (size_t i = 0; i < count; ++i) host[i] = value;
  CUDA(cudaMalloc((void**)&device, count * sizeof(float)));
  CUDA(cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice));
  free(host);
  return device;
}

/* Ends the program unless each of the floats is `expected`. */
static inline void expect_floats(const float* device, size_t count, float expected) {
  float* host = (float*)malloc(count * sizeof(float));
  if (host == NULL) exit(1);
  CUDA(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < count; ++i) {
    if (host[i] == expected) continue;
    fprintf(stderr, "element %zu is %g, expected %g\n", i, (double)host[i], (double)expected);
    exit(1);
  }
  free(host);
}

#endif
