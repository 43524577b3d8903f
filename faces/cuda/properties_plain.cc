// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>

#include "faces/cuda/properties.h"
#include "faces/cuda/translate.h"
#include "rig/runtime.h"

// Under its plain name the function has another struct in each runtime, so this file is compiled
// for each: COMMRIG_CUDART_MAJOR is 11, 12 or 13. In 12 the name means what it meant in 11; its own
// struct goes with cudaGetDeviceProperties_v2.
using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

#undef cudaGetDeviceProperties

extern "C" __attribute__((visibility("default"))) cudaError_t
cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
  return enter([&]() -> Outcome {
    if (prop == nullptr) return cudaErrorInvalidValue;
    COMMRIG_ASSIGN(const int devices, rig::device_count());
    if (device < 0 || device >= devices) return cudaErrorInvalidDevice;
    const cudaDeviceProp all = properties_of(device);
#if COMMRIG_CUDART_MAJOR >= 13
    const auto bytes = properties_13(all);
    std::memcpy(static_cast<void*>(prop), bytes.data(), bytes.size());
#else
    std::memcpy(static_cast<void*>(prop), &all, kPropertyBytes11);
#endif
    return cudaSuccess;
  });
}
