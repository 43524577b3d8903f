// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/faces/ranks.h"

// The struct of device properties, which each runtime has in another layout under one name. The
// numbers are bytes in the struct, as the vendor's headers have it.
namespace commrig::faces {
namespace {

constexpr char kUntouched = 0x5A;

struct Layout {
  const char* file;
  const char* function;
  std::size_t bytes;
  std::size_t warp_size;
  std::size_t major;
  std::size_t processors;
  std::size_t bus;
  std::size_t shared_memory;  // that a block may opt in to, 8 bytes
  std::size_t blocks;         // of a multiprocessor
};

constexpr Layout kLayouts[] = {
    {COMMRIG_CUDART_11, "cudaGetDeviceProperties", 728, 308, 360, 388, 584, 696, 712},
    {COMMRIG_CUDART_12, "cudaGetDeviceProperties", 728, 308, 360, 388, 584, 696, 712},
    {COMMRIG_CUDART_12, "cudaGetDeviceProperties_v2", 1032, 308, 360, 388, 584, 696, 712},
    {COMMRIG_CUDART_13, "cudaGetDeviceProperties", 1008, 308, 360, 384, 568, 672, 688},
};

template <class T>
T read(const std::vector<char>& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

TEST(RuntimeVersions, DevicePropertiesLieWhereTheRuntimesOwnHeaderHasThem) {
  cudaDeviceProp known{};
  ASSERT_EQ(cudaGetDeviceProperties(&known, 1), cudaSuccess);
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(std::string(layout.file) + " " + layout.function);
    void* const library = dlopen(layout.file, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto* const get =
        reinterpret_cast<cudaError_t (*)(cudaDeviceProp*, int)>(dlsym(library, layout.function));
    ASSERT_NE(get, nullptr);
    std::vector<char> bytes(layout.bytes + 64, kUntouched);
    // The struct of another runtime.
    auto* const properties = reinterpret_cast<cudaDeviceProp*>(bytes.data());
    ASSERT_EQ(get(properties, 1), cudaSuccess);
    EXPECT_STREQ(bytes.data(), known.name);
    EXPECT_EQ(read<int>(bytes, layout.warp_size), 32);
    EXPECT_EQ(read<int>(bytes, layout.major), 9);
    EXPECT_EQ(read<int>(bytes, layout.processors), known.multiProcessorCount);
    EXPECT_EQ(read<int>(bytes, layout.bus), known.pciBusID);
    EXPECT_EQ(read<std::size_t>(bytes, layout.shared_memory), known.sharedMemPerBlockOptin);
    EXPECT_EQ(read<int>(bytes, layout.blocks), known.maxBlocksPerMultiProcessor);
    for (std::size_t i = layout.bytes; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], kUntouched);
    EXPECT_EQ(get(nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(get(properties, 1000), cudaErrorInvalidDevice);
    EXPECT_EQ(get(properties, -1), cudaErrorInvalidDevice);
  }
  (void)cudaGetLastError();
}

TEST(RuntimeVersions, GraphsAreRefusedInBothForms) {
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = reinterpret_cast<cudaGraphNode_t>(&exec);
  char text[] = "old";
  EXPECT_EQ(cudaGraphInstantiate(&exec, nullptr, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphInstantiate(&exec, nullptr, &node, text, sizeof(text)), cudaErrorNotSupported);
  EXPECT_EQ(node, nullptr);
  EXPECT_STREQ(text, "");
  (void)cudaGetLastError();
}

}  // namespace
}  // namespace commrig::faces
