// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/stream.h"

#include <algorithm>

#include "faces/cuda/translate.h"
#include "rig/event.h"
#include "rig/runtime.h"

namespace commrig::cuda {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

Outcome create(cudaStream_t* stream, unsigned int flags, int priority) {
  if (stream == nullptr || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) {
    return cudaErrorInvalidValue;
  }
  const rig::StreamOptions options{
      .waits_for_default = flags == cudaStreamDefault,
      .priority = std::clamp(priority, kGreatestPriority, kLeastPriority)};
  COMMRIG_ASSIGN(void* const made, rig::create_stream(rig::current_device(), options));
  *stream = static_cast<cudaStream_t>(made);
  return cudaSuccess;
}

// What is known of a stream, through `read`, into `target`.
template <class T, class Read>
cudaError_t tell(cudaStream_t stream, T* target, const Read& read) {
  return enter([&]() -> Outcome {
    if (target == nullptr) return cudaErrorInvalidValue;
    COMMRIG_ASSIGN(const rig::StreamInfo info, rig::stream_info(stream, rig::current_device()));
    *target = static_cast<T>(read(info));
    return cudaSuccess;
  });
}

Outcome call(cudaStream_t stream, std::function<void()> function) {
  COMMRIG_TRY(rig::call_on_stream(stream, rig::current_device(),
                                  [function = std::move(function)]() -> Status {
                                    function();
                                    return ok();
                                  }));
  return cudaSuccess;
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return enter([&] { return create(stream, cudaStreamDefault, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return enter([&] { return create(stream, flags, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return enter([&] { return create(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return enter_status([&] { return rig::destroy_stream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return enter_status([&] { return rig::synchronize_stream(stream, rig::current_device()); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return enter([&]() -> Outcome {
    COMMRIG_ASSIGN(const bool ended, rig::query_stream(stream, rig::current_device()));
    return ended ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return tell(stream, priority, [](const rig::StreamInfo& info) { return info.options.priority; });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return tell(stream, flags, [](const rig::StreamInfo& info) {
    return info.options.waits_for_default ? cudaStreamDefault : cudaStreamNonBlocking;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return tell(stream, id, [](const rig::StreamInfo& info) { return info.number; });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return tell(stream, device, [](const rig::StreamInfo& info) { return info.device; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return enter([&]() -> Outcome {
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    COMMRIG_TRY(rig::make_stream_wait(stream, rig::current_device(), event));
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return enter([&]() -> Outcome {
    if (fn == nullptr) return cudaErrorInvalidValue;
    return call(stream, [fn, userData] { fn(userData); });
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* userData, unsigned int flags) {
  return enter([&]() -> Outcome {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    return call(stream, [=] { callback(stream, cudaSuccess, userData); });
  });
}

}  // extern "C"
