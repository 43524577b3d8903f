// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstdio>
#include <cstring>

#include "faces/cuda/properties.h"
#include "faces/cuda/translate.h"
#include "rig/memory.h"
#include "rig/runtime.h"
#include "rig/stream.h"

namespace commrig::cuda {
namespace {

constexpr int kGreatestPriority = -5;

Outcome write(int* target, int value) {
  if (target == nullptr) return cudaErrorInvalidValue;
  *target = value;
  return cudaSuccess;
}

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return enter([&]() -> Outcome {
    COMMRIG_ASSIGN(const int devices, rig::device_count());
    return write(count, devices);
  });
}

cudaError_t cudaGetDevice(int* device) {
  return enter([&] { return write(device, rig::current_device()); });
}

cudaError_t cudaSetDevice(int device) {
  return enter_status([&] { return rig::set_current_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return enter_status([&] { return rig::check_device(device); });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return enter([&]() -> Outcome {
    return (flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0 ? cudaSuccess
                                                                 : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return enter([&]() -> Outcome {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp* prop, int device) {
  return enter([&]() -> Outcome {
    if (prop == nullptr) return cudaErrorInvalidValue;
    COMMRIG_TRY(rig::check_device(device));
    *prop = properties_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device) {
  return enter([&]() -> Outcome {
    if (value == nullptr) return cudaErrorInvalidValue;
    COMMRIG_TRY(rig::check_device(device));
    const std::optional<int> found = attribute_of(properties_of(device), attr);
    return found ? write(value, *found) : Outcome(cudaErrorInvalidValue);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return enter([&]() -> Outcome {
    if (pciBusId == nullptr || len < kBusIdBytes) return cudaErrorInvalidValue;
    COMMRIG_TRY(rig::check_device(device));
    std::snprintf(pciBusId, static_cast<std::size_t>(len), "%s", bus_id_of(device).c_str());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return enter([&]() -> Outcome {
    if (device == nullptr || pciBusId == nullptr) return cudaErrorInvalidValue;
    COMMRIG_ASSIGN(const int devices, rig::device_count());
    for (int each = 0; each < devices; ++each) {
      if (bus_id_of(each) == pciBusId) return write(device, each);
    }
    return cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return enter([&]() -> Outcome {
    if (leastPriority != nullptr) *leastPriority = 0;
    if (greatestPriority != nullptr) *greatestPriority = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  return enter([&]() -> Outcome {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (limit < cudaLimitStackSize || limit > cudaLimitMallocHeapSize) {
      return cudaErrorUnsupportedLimit;
    }
    constexpr std::size_t kLimits[] = {1024, std::size_t{1} << 20U, std::size_t{8} << 20U};
    *value = kLimits[limit];
    return cudaSuccess;
  });
}

// Limits are of device code, which is not executed.
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t) {
  return enter([&]() -> Outcome {
    return limit < cudaLimitStackSize || limit > cudaLimitMallocHeapSize ? cudaErrorUnsupportedLimit
                                                                         : cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return enter_status([] { return rig::synchronize_device(rig::current_device()); });
}

cudaError_t cudaDeviceReset(void) {
  return enter_status([] { return rig::synchronize_device(rig::current_device()); });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peerDevice) {
  return enter([&]() -> Outcome {
    COMMRIG_TRY(rig::check_device(device));
    COMMRIG_TRY(rig::check_device(peerDevice));
    return write(canAccess, device == peerDevice ? 0 : 1);
  });
}

// Devices reach each other's memory in any case.
cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
  return enter([&]() -> Outcome {
    COMMRIG_TRY(rig::check_device(peerDevice));
    return flags == 0 && peerDevice != rig::current_device() ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
  return enter_status([&] { return rig::check_device(peerDevice); });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return enter([&] { return write(version, CUDART_VERSION); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return enter([&] { return write(version, CUDART_VERSION); });
}

}  // extern "C"
