// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>

#include "faces/cuda/translate.h"
#include "rig/runtime.h"
#include "rig/stream.h"

// What the interface has and commrig has not: named errors instead of half a function.
using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C

namespace {

cudaError_t refuse(cudaError_t error) {
  return enter([&]() -> Outcome { return error; });
}

// With a line that names the call.
cudaError_t not_yet(const char* call, cudaError_t error = cudaErrorNotSupported) {
  return enter([&]() -> Outcome {
    (void)translate(commrig::Error::make(commrig::Code::kNotYet, call));
    return error;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return not_yet("cudaIpcGetEventHandle");
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return not_yet("cudaIpcOpenEventHandle");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode) {
  return not_yet("cudaStreamBeginCapture", cudaErrorStreamCaptureUnsupported);
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (graph != nullptr) *graph = nullptr;
  return refuse(cudaErrorIllegalState);
}

// True to what the others say: nothing is ever captured.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  return enter([&]() -> Outcome {
    if (status == nullptr) return cudaErrorInvalidValue;
    COMMRIG_TRY(commrig::rig::stream_info(stream, commrig::rig::current_device()));
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (mode == nullptr || *mode > cudaStreamCaptureModeRelaxed) return refuse(cudaErrorInvalidValue);
  std::swap(*mode, current);
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned int) {
  return not_yet("cudaGraphCreate");
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return not_yet("cudaGraphInstantiate");
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return not_yet("cudaGraphLaunch");
}

cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return not_yet("cudaGraphDestroy");
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return not_yet("cudaGraphExecDestroy");
}

}  // extern "C"
