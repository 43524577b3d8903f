/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_CUDA_RUNTIME_H
#define COMMRIG_CUDA_RUNTIME_H

/* The runtime with what C++ programs expect beside it. */
#include "cuda_runtime_api.h"

#if defined(__cplusplus)
/* Overloads that spare casts. */
template <class T>
static inline cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return ::cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}
template <class T>
static inline cudaError_t cudaMallocHost(T** ptr, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T** devPtr, size_t size,
                                            unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(reinterpret_cast<void**>(devPtr), size, flags);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T** devPtr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(devPtr), size, stream);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  return ::cudaStreamWaitEvent(stream, event, 0);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event) {
  return ::cudaEventRecord(event, 0);
}
static inline cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count,
                                          enum cudaMemcpyKind kind) {
  return ::cudaMemcpyAsync(dst, src, count, kind, 0);
}
static inline cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count) {
  return ::cudaMemsetAsync(devPtr, value, count, 0);
}
/* As runtimes before 12 had it; there is no node and no text to tell. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                               cudaGraphNode_t* error_node, char* log,
                                               size_t log_bytes) {
  if (error_node != NULL) *error_node = NULL;
  if (log != NULL && log_bytes > 0) *log = 0;
  return ::cudaGraphInstantiate(exec, graph, 0);
}
/* A function as it is, without a cast to a pointer to void. */
template <class... Parameters>
static inline cudaError_t cudaLaunchKernel(void (*func)(Parameters...), dim3 gridDim, dim3 blockDim,
                                           void** args, size_t sharedMem = 0,
                                           cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(func), gridDim, blockDim, args, sharedMem,
                            stream);
}
#endif

#endif /* COMMRIG_CUDA_RUNTIME_H */
