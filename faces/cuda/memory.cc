// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/memory.h"

#include "faces/cuda/translate.h"
#include "rig/runtime.h"
#include "rig/stream.h"

namespace commrig::cuda {
namespace {

// Where a result is written to must be there.
template <class T>
Outcome put(T** target, const Result<void*>& made) {
  if (!made) return made.error();
  *target = static_cast<T*>(*made);
  return cudaSuccess;
}

Outcome allocate(void** target, std::size_t bytes, rig::MemoryKind kind) {
  if (target == nullptr) return cudaErrorInvalidValue;
  *target = nullptr;
  if (bytes == 0) return cudaSuccess;
  return put(target, rig::allocate(rig::current_device(), bytes, kind));
}

Outcome allocate_host(void** target, std::size_t bytes, unsigned int flags) {
  constexpr unsigned int kFlags =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (target == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
  *target = nullptr;
  if (bytes == 0) return cudaSuccess;
  return put(target, rig::allocate_host(rig::current_device(), bytes));
}

// The state of host memory has codes of its own in some functions.
Outcome with_host_code(const Status& status, cudaError_t code) {
  if (status) return cudaSuccess;
  return status.error().code == Code::kHostMemory ? Outcome(code) : Outcome(status.error());
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return enter([&] { return allocate(devPtr, size, rig::MemoryKind::kDevice); });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
  return enter([&]() -> Outcome {
    const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (!known || size == 0) return cudaErrorInvalidValue;
    return allocate(devPtr, size, rig::MemoryKind::kManaged);
  });
}

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t stream) {
  return enter([&]() -> Outcome {
    COMMRIG_TRY(rig::stream_info(stream, rig::current_device()));
    return allocate(devPtr, size, rig::MemoryKind::kDevice);
  });
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
  return enter([&]() -> Outcome {
    constexpr std::size_t kPitch = 512;
    if (pitch == nullptr || width > SIZE_MAX - kPitch) return cudaErrorInvalidValue;
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
    return allocate(devPtr, bytes, rig::MemoryKind::kDevice);
  });
}

cudaError_t cudaFree(void* devPtr) {
  return enter_status([&] { return rig::release(devPtr); });
}

// When the stream has come so far; the caller waits for that.
cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t stream) {
  return enter_status([&]() -> commrig::Status {
    COMMRIG_TRY(rig::synchronize_stream(stream, rig::current_device()));
    return rig::release(devPtr);
  });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
  return enter([&] { return allocate_host(ptr, size, cudaHostAllocDefault); });
}

cudaError_t cudaHostAlloc(void** ptr, size_t size, unsigned int flags) {
  return enter([&] { return allocate_host(ptr, size, flags); });
}

cudaError_t cudaFreeHost(void* ptr) {
  return enter_status([&] { return rig::release_host(ptr); });
}

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags) {
  return enter([&]() -> Outcome {
    constexpr unsigned int kFlags = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                    cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if ((flags & ~kFlags) != 0) return cudaErrorInvalidValue;
    return with_host_code(rig::register_host(rig::current_device(), ptr, size),
                          cudaErrorHostMemoryAlreadyRegistered);
  });
}

cudaError_t cudaHostUnregister(void* ptr) {
  return enter([&]() -> Outcome {
    if (ptr == nullptr) return cudaErrorInvalidValue;
    return with_host_code(rig::unregister_host(ptr), cudaErrorHostMemoryNotRegistered);
  });
}

// Devices reach host memory by the address that it has on the host.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return enter([&]() -> Outcome {
    const bool known = rig::pointer_info(host).kind == rig::MemoryKind::kHost;
    if (device == nullptr || flags != 0 || !known) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return enter([&]() -> Outcome {
    const bool known = rig::pointer_info(host).kind == rig::MemoryKind::kHost;
    if (flags == nullptr || !known) return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
  });
}

// Memory doesn't move, so that there is nothing to fetch; advice is only checked.
cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, int device,
                                 cudaStream_t stream) {
  return enter([&]() -> Outcome {
    COMMRIG_TRY(rig::stream_info(stream, rig::current_device()));
    COMMRIG_ASSIGN(const int devices, rig::device_count());
    if (device != cudaCpuDeviceId && (device < 0 || device >= devices)) {
      return cudaErrorInvalidDevice;
    }
    COMMRIG_TRY(rig::check_reachable(devPtr, count));
    return cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice, int) {
  return enter([&]() -> Outcome {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
      return cudaErrorInvalidValue;
    }
    COMMRIG_TRY(rig::check_reachable(devPtr, count));
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return enter([&]() -> Outcome {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    COMMRIG_ASSIGN(const rig::MemoryUse use, rig::memory_use(rig::current_device()));
    *free = use.free;
    *total = use.total;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr) {
  return enter([&]() -> Outcome {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const rig::PointerInfo info = rig::pointer_info(ptr);
    void* const pointer = const_cast<void*>(ptr);
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, pointer};
    if (info.kind == rig::MemoryKind::kDevice || info.kind == rig::MemoryKind::kShared) {
      *attributes = {cudaMemoryTypeDevice, info.device, pointer, nullptr};
    } else if (info.kind == rig::MemoryKind::kManaged) {
      *attributes = {cudaMemoryTypeManaged, info.device, pointer, pointer};
    } else if (info.kind == rig::MemoryKind::kHost) {
      *attributes = {cudaMemoryTypeHost, info.device, pointer, pointer};
    }
    return cudaSuccess;
  });
}

}  // extern "C"
