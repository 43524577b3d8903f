// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>

#include "faces/cuda/translate.h"

// What the interface has and commrig has not: named errors instead of half a function.
using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C

namespace {

cudaError_t refuse(cudaError_t error) {
  return enter([&]() -> Outcome { return error; });
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode) {
  return refuse(cudaErrorStreamCaptureUnsupported);
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (graph != nullptr) *graph = nullptr;
  return refuse(cudaErrorIllegalState);
}

// True to what the others say: nothing is ever captured.
cudaError_t cudaStreamIsCapturing(cudaStream_t, enum cudaStreamCaptureStatus* status) {
  if (status == nullptr) return refuse(cudaErrorInvalidValue);
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (mode == nullptr || *mode > cudaStreamCaptureModeRelaxed) return refuse(cudaErrorInvalidValue);
  std::swap(*mode, current);
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned int) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return refuse(cudaErrorNotSupported);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return refuse(cudaErrorNotSupported);
}

}  // extern "C"
