// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>

#include "faces/cuda/translate.h"
#include "rig/runtime.h"
#include "rig/share.h"

namespace commrig::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(rig::ShareHandle));

// An unusable handle is another error than an argument that is wrong.
Outcome with_handle_code(const Error& error) {
  if (error.code != Code::kShareHandle) return error;
  (void)translate(error);
  return cudaErrorInvalidResourceHandle;
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
  return enter([&]() -> Outcome {
    if (handle == nullptr) return cudaErrorInvalidValue;
    const commrig::Result<rig::ShareHandle> made = rig::share_memory(devPtr);
    if (!made) return made.error();
    std::memcpy(handle, made->data(), sizeof(*handle));
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned int flags) {
  return enter([&]() -> Outcome {
    if (devPtr == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    rig::ShareHandle bytes;
    std::memcpy(bytes.data(), &handle, sizeof(handle));
    const commrig::Result<void*> opened = rig::open_memory(bytes, rig::current_device());
    if (!opened) return with_handle_code(opened.error());
    *devPtr = *opened;
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* devPtr) {
  return enter_status([&] { return rig::close_memory(devPtr); });
}

}  // extern "C"
