// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cuda/translate.h"
#include "rig/memory.h"
#include "rig/runtime.h"
#include "rig/stream.h"

namespace commrig::cuda {
namespace {

struct Request {
  rig::Copy copy;
  cudaMemcpyKind kind;
  cudaStream_t stream = nullptr;
  bool waits = true;  // for the stream, as functions without "Async" do
};

// The side that the kind calls a device's must be memory that devices reach.
Outcome check_direction(const Request& request) {
  const rig::Copy& copy = request.copy;
  if (request.kind < cudaMemcpyHostToHost || request.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (request.kind == cudaMemcpyHostToDevice || request.kind == cudaMemcpyDeviceToDevice) {
    COMMRIG_TRY(rig::check_reachable(copy.target, copy.width));
  }
  if (request.kind == cudaMemcpyDeviceToHost || request.kind == cudaMemcpyDeviceToDevice) {
    COMMRIG_TRY(rig::check_reachable(copy.source, copy.width));
  }
  return cudaSuccess;
}

cudaError_t copy(const Request& request) {
  return enter([&]() -> Outcome {
    COMMRIG_ASSIGN(const cudaError_t direction, check_direction(request));
    if (direction != cudaSuccess) return direction;
    const int device = rig::current_device();
    COMMRIG_TRY(rig::copy_on_stream(request.stream, device, request.copy));
    if (request.waits) COMMRIG_TRY(rig::synchronize_stream(request.stream, device));
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind) {
  return copy({.copy = {.target = dst, .source = src, .width = count}, .kind = kind});
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy({.copy = {.target = dst, .source = src, .width = count},
               .kind = kind,
               .stream = stream,
               .waits = false});
}

// Memory has one address for all devices.
cudaError_t cudaMemcpyPeer(void* dst, int, const void* src, int, size_t count) {
  return cudaMemcpy(dst, src, count, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int, const void* src, int, size_t count,
                                cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, count, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
  return copy({.copy = {dst, dpitch, src, spitch, width, height}, .kind = kind});
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy({.copy = {dst, dpitch, src, spitch, width, height},
               .kind = kind,
               .stream = stream,
               .waits = false});
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return enter_status([&] {
    return rig::fill_on_stream(stream, rig::current_device(), devPtr,
                               static_cast<std::uint8_t>(value), count);
  });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  return cudaMemsetAsync(devPtr, value, count, nullptr);
}

}  // extern "C"
