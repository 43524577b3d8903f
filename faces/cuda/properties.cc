// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cuda/properties.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <span>

#include "device/memory.h"

namespace commrig::cuda {
namespace {

constexpr int kDevicesPerDomain = 200;

struct Number {
  cudaDeviceAttr attribute;
  int cudaDeviceProp::* member;
};
constexpr std::array kNumbers{
    Number{cudaDevAttrMaxThreadsPerBlock, &cudaDeviceProp::maxThreadsPerBlock},
    Number{cudaDevAttrWarpSize, &cudaDeviceProp::warpSize},
    Number{cudaDevAttrMaxRegistersPerBlock, &cudaDeviceProp::regsPerBlock},
    Number{cudaDevAttrMaxRegistersPerMultiprocessor, &cudaDeviceProp::regsPerMultiprocessor},
    Number{cudaDevAttrClockRate, &cudaDeviceProp::clockRate},
    Number{cudaDevAttrMultiProcessorCount, &cudaDeviceProp::multiProcessorCount},
    Number{cudaDevAttrComputeMode, &cudaDeviceProp::computeMode},
    Number{cudaDevAttrPciBusId, &cudaDeviceProp::pciBusID},
    Number{cudaDevAttrPciDeviceId, &cudaDeviceProp::pciDeviceID},
    Number{cudaDevAttrPciDomainId, &cudaDeviceProp::pciDomainID},
    Number{cudaDevAttrMemoryClockRate, &cudaDeviceProp::memoryClockRate},
    Number{cudaDevAttrGlobalMemoryBusWidth, &cudaDeviceProp::memoryBusWidth},
    Number{cudaDevAttrL2CacheSize, &cudaDeviceProp::l2CacheSize},
    Number{cudaDevAttrMaxThreadsPerMultiProcessor, &cudaDeviceProp::maxThreadsPerMultiProcessor},
    Number{cudaDevAttrMaxBlocksPerMultiprocessor, &cudaDeviceProp::maxBlocksPerMultiProcessor},
    Number{cudaDevAttrAsyncEngineCount, &cudaDeviceProp::asyncEngineCount},
    Number{cudaDevAttrComputeCapabilityMajor, &cudaDeviceProp::major},
    Number{cudaDevAttrComputeCapabilityMinor, &cudaDeviceProp::minor},
};

struct Size {
  cudaDeviceAttr attribute;
  std::size_t cudaDeviceProp::* member;
};
constexpr std::array kSizes{
    Size{cudaDevAttrMaxSharedMemoryPerBlock, &cudaDeviceProp::sharedMemPerBlock},
    Size{cudaDevAttrMaxSharedMemoryPerBlockOptin, &cudaDeviceProp::sharedMemPerBlockOptin},
    Size{cudaDevAttrMaxSharedMemoryPerMultiprocessor, &cudaDeviceProp::sharedMemPerMultiprocessor},
    Size{cudaDevAttrReservedSharedMemoryPerBlock, &cudaDeviceProp::reservedSharedMemPerBlock},
    Size{cudaDevAttrTotalConstantMemory, &cudaDeviceProp::totalConstMem},
    Size{cudaDevAttrMaxPitch, &cudaDeviceProp::memPitch},
    Size{cudaDevAttrTextureAlignment, &cudaDeviceProp::textureAlignment},
};

// What these devices can do.
constexpr std::array kAble{
    cudaDevAttrGpuOverlap,
    cudaDevAttrCanMapHostMemory,
    cudaDevAttrConcurrentKernels,
    cudaDevAttrUnifiedAddressing,
    cudaDevAttrStreamPrioritiesSupported,
    cudaDevAttrManagedMemory,
    cudaDevAttrPageableMemoryAccess,
    cudaDevAttrConcurrentManagedAccess,
    cudaDevAttrCanUseHostPointerForRegisteredMem,
    cudaDevAttrHostRegisterSupported,
};

int domain_of(int device) {
  return device / kDevicesPerDomain;
}
int bus_of(int device) {
  return 1 + device % kDevicesPerDomain;
}

}  // namespace

static_assert(sizeof(cudaDeviceProp) == 1032, "the layout of runtime 12");

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp made{};
  std::snprintf(made.name, sizeof(made.name), "commrig simulated device");
  std::memcpy(made.uuid.bytes, "commrig device", 14);
  made.uuid.bytes[14] = static_cast<char>(device / 256);
  made.uuid.bytes[15] = static_cast<char>(device % 256);
  made.totalGlobalMem = device::MemoryOptions().bytes_per_device;
  made.sharedMemPerBlock = std::size_t{48} << 10U;
  made.sharedMemPerBlockOptin = std::size_t{227} << 10U;
  made.sharedMemPerMultiprocessor = std::size_t{228} << 10U;
  made.reservedSharedMemPerBlock = 1024;
  made.regsPerBlock = 65536;
  made.regsPerMultiprocessor = 65536;
  made.warpSize = 32;
  made.memPitch = INT_MAX;
  made.maxThreadsPerBlock = 1024;
  made.maxThreadsPerMultiProcessor = 2048;
  made.maxBlocksPerMultiProcessor = 32;
  constexpr int kThreads[] = {1024, 1024, 64};
  constexpr int kGrid[] = {INT_MAX, 65535, 65535};
  std::ranges::copy(kThreads, made.maxThreadsDim);
  std::ranges::copy(kGrid, made.maxGridSize);
  made.clockRate = 1000000;
  made.memoryClockRate = 1000000;
  made.memoryBusWidth = 5120;
  made.totalConstMem = 65536;
  made.major = 9;
  made.minor = 0;
  made.textureAlignment = 512;
  made.texturePitchAlignment = 32;
  made.surfaceAlignment = 512;
  made.deviceOverlap = 1;
  made.multiProcessorCount = 32;
  made.canMapHostMemory = 1;
  made.concurrentKernels = 1;
  made.pciBusID = bus_of(device);
  made.pciDomainID = domain_of(device);
  made.asyncEngineCount = 2;
  made.unifiedAddressing = 1;
  made.l2CacheSize = 32 << 20;
  made.streamPrioritiesSupported = 1;
  made.managedMemory = 1;
  made.pageableMemoryAccess = 1;
  made.concurrentManagedAccess = 1;
  made.canUseHostPointerForRegisteredMem = 1;
  made.hostRegisterSupported = 1;
  return made;
}

std::array<std::byte, kPropertyBytes13> properties_13(const cudaDeviceProp& properties) {
  // Members that follow each other in both, as far as the alignment is the same.
  struct Stretch {
    std::size_t begin;
    std::size_t end;  // in the struct of runtime 12
    std::size_t at;   // in that of 13
  };
  constexpr Stretch kStretches[] = {
      {0, offsetof(cudaDeviceProp, clockRate), 0},
      {offsetof(cudaDeviceProp, totalConstMem), offsetof(cudaDeviceProp, deviceOverlap), 352},
      {offsetof(cudaDeviceProp, multiProcessorCount),
       offsetof(cudaDeviceProp, kernelExecTimeoutEnabled), 384},
      {offsetof(cudaDeviceProp, integrated), offsetof(cudaDeviceProp, computeMode), 388},
      {offsetof(cudaDeviceProp, maxTexture1D), offsetof(cudaDeviceProp, maxTexture1DLinear), 396},
      {offsetof(cudaDeviceProp, maxTexture2D), offsetof(cudaDeviceProp, memoryClockRate), 404},
      {offsetof(cudaDeviceProp, memoryBusWidth),
       offsetof(cudaDeviceProp, sharedMemPerMultiprocessor), 592},
      {offsetof(cudaDeviceProp, sharedMemPerMultiprocessor),
       offsetof(cudaDeviceProp, singleToDoublePrecisionPerfRatio), 624},
      {offsetof(cudaDeviceProp, pageableMemoryAccess),
       offsetof(cudaDeviceProp, cooperativeMultiDeviceLaunch), 652},
      {offsetof(cudaDeviceProp, sharedMemPerBlockOptin), offsetof(cudaDeviceProp, reserved2), 672},
  };
  std::array<std::byte, kPropertyBytes13> made{};
  const auto all = std::as_bytes(std::span(&properties, 1));
  for (const auto& [begin, end, at] : kStretches) {
    std::ranges::copy(all.subspan(begin, end - begin), made.begin() + static_cast<long>(at));
  }
  return made;
}

std::optional<int> attribute_of(const cudaDeviceProp& properties, cudaDeviceAttr attribute) {
  if (attribute >= cudaDevAttrMaxBlockDimX && attribute <= cudaDevAttrMaxBlockDimZ) {
    return properties.maxThreadsDim[attribute - cudaDevAttrMaxBlockDimX];
  }
  if (attribute >= cudaDevAttrMaxGridDimX && attribute <= cudaDevAttrMaxGridDimZ) {
    return properties.maxGridSize[attribute - cudaDevAttrMaxGridDimX];
  }
  for (const auto& [number, member] : kNumbers) {
    if (number == attribute) return properties.*member;
  }
  for (const auto& [number, member] : kSizes) {
    if (number == attribute) return static_cast<int>(properties.*member);
  }
  if (std::ranges::find(kAble, attribute) != kAble.end()) return 1;
  // What a device can have and these have not, up to the largest number that we know.
  if (attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax) return 0;
  return std::nullopt;
}

std::string bus_id_of(int device) {
  char text[32];
  std::snprintf(text, sizeof(text), "%04x:%02x:00.0", static_cast<unsigned>(domain_of(device)),
                static_cast<unsigned>(bus_of(device)));
  return text;
}

}  // namespace commrig::cuda
