// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/event.h"

#include "faces/cuda/translate.h"
#include "rig/runtime.h"

namespace commrig::cuda {
namespace {

Outcome create(cudaEvent_t* event, unsigned int flags) {
  constexpr unsigned int kFlags =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  const bool timed = (flags & cudaEventDisableTiming) == 0;
  if (event == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
  if ((flags & cudaEventInterprocess) != 0 && timed) return cudaErrorInvalidValue;
  COMMRIG_ASSIGN(void* const made, rig::create_event(rig::current_device(), {.timed = timed}));
  *event = static_cast<cudaEvent_t>(made);
  return cudaSuccess;
}

Outcome record(cudaEvent_t event, cudaStream_t stream) {
  const Status status = rig::record_event(event, stream, rig::current_device());
  if (status) return cudaSuccess;
  // Of the wrong device.
  if (status.error().code == Code::kBadArgument) {
    (void)translate(status.error());
    return cudaErrorInvalidResourceHandle;
  }
  return status.error();
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return enter([&] { return create(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return enter([&] { return create(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return enter_status([&] { return rig::destroy_event(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return enter([&] { return record(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return enter([&]() -> Outcome {
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    return record(event, stream);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return enter([&]() -> Outcome {
    COMMRIG_ASSIGN(const bool reached, rig::query_event(event));
    return reached ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return enter_status([&] { return rig::synchronize_event(event); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return enter([&]() -> Outcome {
    if (ms == nullptr) return cudaErrorInvalidValue;
    const commrig::Result<std::int64_t> elapsed = rig::elapsed_ns(start, end);
    if (!elapsed && elapsed.error().code == commrig::Code::kBadArgument) {
      (void)translate(elapsed.error());
      return cudaErrorInvalidResourceHandle;
    }
    if (!elapsed) return elapsed.error();
    *ms = static_cast<float>(static_cast<double>(*elapsed) / 1e6);
    return cudaSuccess;
  });
}

// cudaEventElapsedTime of runtime 12.8 and later has this name.
__attribute__((visibility("default"))) cudaError_t cudaEventElapsedTime_v2(float* ms,
                                                                           cudaEvent_t start,
                                                                           cudaEvent_t end) {
  return cudaEventElapsedTime(ms, start, end);
}

}  // extern "C"
