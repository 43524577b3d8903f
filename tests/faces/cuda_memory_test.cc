// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>
#include <string>

#include "tests/faces/cuda_fixture.h"

// Memory of the host runtime: its kinds, copies and errors.
namespace commrig::faces {
namespace {

TEST_F(Cuda, MemoryIsCopiedInEveryDirection) {
  const std::string text = "over there and back";
  std::string back(text.size(), '.');
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_CUDA(cudaMalloc(&first, text.size()));
  ASSERT_CUDA(cudaMalloc(&second, text.size()));
  ASSERT_CUDA(cudaMemcpy(first, text.data(), text.size(), cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpy(second, first, text.size(), cudaMemcpyDeviceToDevice));
  ASSERT_CUDA(cudaMemset(first, 'x', 4));
  ASSERT_CUDA(cudaMemcpyPeer(second, 0, first, 0, 4));
  ASSERT_CUDA(cudaMemcpy(back.data(), second, text.size(), cudaMemcpyDefault));
  EXPECT_EQ(back, "xxxx" + text.substr(4));
  ASSERT_CUDA(cudaFree(first));
  ASSERT_CUDA(cudaFree(second));
}

TEST_F(Cuda, RowsAreCopiedWithTheirDistances) {
  const char source[] = "ab..cd..ef..";
  char target[] = "------------";
  ASSERT_CUDA(cudaMemcpy2D(target, 3, source, 4, 2, 3, cudaMemcpyHostToHost));
  EXPECT_STREQ(target, "ab-cd-ef----");
  expect_error(cudaMemcpy2D(target, 1, source, 4, 2, 3, cudaMemcpyHostToHost),
               cudaErrorInvalidValue);
}

TEST_F(Cuda, OrdinaryHostMemoryMayBeChangedRightAfterAnAsyncCopyOfIt) {
  Gate gate;
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&stream));
  ASSERT_CUDA(cudaMalloc(&data, 4));
  ASSERT_CUDA(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  std::int32_t value = 7;
  ASSERT_CUDA(cudaMemcpyAsync(data, &value, 4, cudaMemcpyHostToDevice, stream));
  value = 8;
  gate.open = true;
  ASSERT_CUDA(cudaMemcpyAsync(&value, data, 4, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(value, 7);
  ASSERT_CUDA(cudaFree(data));
  ASSERT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(Cuda, BadPointersSizesAndDirectionsAreErrors) {
  char host[8] = {};
  void* data = nullptr;
  ASSERT_CUDA(cudaMalloc(&data, 8));
  expect_error(cudaMemcpy(data, host, 9, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_error(cudaMemcpy(nullptr, host, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  auto* const wild = reinterpret_cast<void*>(std::uintptr_t{0x10});
  expect_error(cudaMemcpy(data, wild, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_error(cudaMemcpy(wild, data, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  expect_error(cudaMemcpy(wild, host, 8, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  static const char kConstant[8] = {1};
  expect_error(cudaMemcpy(const_cast<char*>(kConstant), data, 8, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
  expect_error(cudaMemcpy(host, host, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  expect_error(cudaMemcpy(host, data, 8, static_cast<cudaMemcpyKind>(7)),
               cudaErrorInvalidMemcpyDirection);
  expect_error(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
  expect_error(cudaFree(host), cudaErrorInvalidValue);
  expect_error(cudaFree(static_cast<char*>(data) + 1), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(data));
  expect_error(cudaFree(data), cudaErrorInvalidValue);
  expect_error(cudaMemcpy(host, data, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  expect_error(cudaMalloc(&data, std::size_t{1} << 60U), cudaErrorMemoryAllocation);
  expect_error(cudaMalloc(static_cast<void**>(nullptr), 8), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaMalloc(&data, 0));
  EXPECT_EQ(data, nullptr);
  ASSERT_CUDA(cudaFree(nullptr));
}

TEST_F(Cuda, PointersTellWhatTheyPointAt) {
  cudaPointerAttributes found{};
  void* data = nullptr;
  ASSERT_CUDA(cudaSetDevice(2));
  ASSERT_CUDA(cudaMalloc(&data, 64));
  ASSERT_CUDA(cudaPointerGetAttributes(&found, static_cast<char*>(data) + 63));
  EXPECT_EQ(found.type, cudaMemoryTypeDevice);
  EXPECT_EQ(found.device, 2);
  ASSERT_CUDA(cudaFree(data));
  ASSERT_CUDA(cudaMallocManaged(&data, 64, cudaMemAttachGlobal));
  ASSERT_CUDA(cudaPointerGetAttributes(&found, data));
  EXPECT_EQ(found.type, cudaMemoryTypeManaged);
  ASSERT_CUDA(cudaFree(data));
  ASSERT_CUDA(cudaMallocHost(&data, 64));
  ASSERT_CUDA(cudaPointerGetAttributes(&found, data));
  EXPECT_EQ(found.type, cudaMemoryTypeHost);
  ASSERT_CUDA(cudaMemset(data, 1, 64));
  expect_error(cudaMemset(data, 1, 65), cudaErrorInvalidValue);
  expect_error(cudaFree(data), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFreeHost(data));
  expect_error(cudaFreeHost(data), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaPointerGetAttributes(&found, &found));
  EXPECT_EQ(found.type, cudaMemoryTypeUnregistered);
}

TEST_F(Cuda, HostMemoryIsRegisteredOnce) {
  std::vector<char> data(100);
  ASSERT_CUDA(cudaHostRegister(data.data(), 100, cudaHostRegisterDefault));
  expect_error(cudaHostRegister(data.data() + 50, 10, cudaHostRegisterDefault),
               cudaErrorHostMemoryAlreadyRegistered);
  void* device = nullptr;
  ASSERT_CUDA(cudaHostGetDevicePointer(&device, data.data(), 0));
  EXPECT_EQ(device, data.data());
  expect_error(cudaHostUnregister(data.data() + 1), cudaErrorHostMemoryNotRegistered);
  ASSERT_CUDA(cudaHostUnregister(data.data()));
  expect_error(cudaHostUnregister(data.data()), cudaErrorHostMemoryNotRegistered);
  expect_error(cudaHostRegister(nullptr, 10, 0), cudaErrorInvalidValue);
  expect_error(cudaHostRegister(reinterpret_cast<void*>(std::uintptr_t{0x10}), 10, 0),
               cudaErrorInvalidValue);
}

TEST_F(Cuda, FreeMemoryGrowsAndShrinks) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* data = nullptr;
  ASSERT_CUDA(cudaMemGetInfo(&before, &total));
  ASSERT_CUDA(cudaMalloc(&data, 1 << 20));
  ASSERT_CUDA(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, std::size_t{1} << 20U);
  EXPECT_GE(total, before);
  ASSERT_CUDA(cudaFree(data));
}

TEST_F(Cuda, AsyncFormsComeInTheOrderOfTheirStream) {
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  char* first = nullptr;
  char* second = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&first, 8, stream));
  ASSERT_CUDA(cudaMallocAsync(&second, 8, stream));
  ASSERT_CUDA(cudaMemsetAsync(first, 'a', 8, stream));
  ASSERT_CUDA(cudaMemsetAsync(first + 4, 'b', 4, stream));
  ASSERT_CUDA(cudaMemcpyPeerAsync(second, 0, first, 0, 8, stream));
  // Two rows of two bytes each, four apart there and two apart here.
  char rows[5] = {};
  ASSERT_CUDA(cudaMemcpy2DAsync(rows, 2, second, 4, 2, 2, cudaMemcpyDeviceToHost, stream));
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_STREQ(rows, "aabb");
  ASSERT_CUDA(cudaFreeAsync(first, stream));
  ASSERT_CUDA(cudaFreeAsync(second, stream));
  expect_error(cudaFreeAsync(second, stream), cudaErrorInvalidValue);
  expect_error(cudaMemcpyPeerAsync(rows, 0, second, 0, 4, stream), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaStreamDestroy(stream));
  expect_error(cudaMallocAsync(&first, 8, stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaFreeAsync(nullptr, stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaMemsetAsync(rows, 0, 4, stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaMemcpyAsync(rows, rows, 4, cudaMemcpyHostToHost, stream),
               cudaErrorInvalidResourceHandle);
}

TEST_F(Cuda, RowsWithAPitchFit) {
  char* data = nullptr;
  std::size_t pitch = 0;
  ASSERT_CUDA(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, 513, 3));
  EXPECT_GE(pitch, 513U);
  EXPECT_EQ(pitch % 256, 0U);
  EXPECT_CUDA(cudaMemset(data, 1, pitch * 3), cudaSuccess);
  expect_error(cudaMemset(data, 1, pitch * 3 + 1), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(data));
  void* none = nullptr;
  expect_error(cudaMallocPitch(&none, nullptr, 8, 3), cudaErrorInvalidValue);
  expect_error(cudaMallocPitch(&none, &pitch, SIZE_MAX, 1), cudaErrorInvalidValue);
  expect_error(cudaMallocPitch(&none, &pitch, 512, SIZE_MAX / 2), cudaErrorMemoryAllocation);
  EXPECT_EQ(none, nullptr);
}

TEST_F(Cuda, HostMemoryTellsItsFlags) {
  void* data = nullptr;
  unsigned flags = 0;
  ASSERT_CUDA(cudaHostAlloc(&data, 16, cudaHostAllocMapped | cudaHostAllocPortable));
  ASSERT_CUDA(cudaHostGetFlags(&flags, data));
  EXPECT_EQ(flags & cudaHostAllocMapped, static_cast<unsigned>(cudaHostAllocMapped));
  expect_error(cudaHostGetFlags(nullptr, data), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFreeHost(data));
  expect_error(cudaHostGetFlags(&flags, data), cudaErrorInvalidValue);
  expect_error(cudaHostGetDevicePointer(&data, &flags, 0), cudaErrorInvalidValue);
  expect_error(cudaHostAlloc(&data, 16, 0x80), cudaErrorInvalidValue);
  expect_error(cudaHostAlloc(static_cast<void**>(nullptr), 16, 0), cudaErrorInvalidValue);
}

TEST_F(Cuda, AdviceAndPrefetchingAreCheckedAndMoveNothing) {
  char* data = nullptr;
  ASSERT_CUDA(cudaMallocManaged(&data, 64));
  std::memset(data, 'm', 64);
  EXPECT_CUDA(cudaMemAdvise(data, 64, cudaMemAdviseSetReadMostly, 0), cudaSuccess);
  EXPECT_CUDA(cudaMemPrefetchAsync(data, 64, 1, nullptr), cudaSuccess);
  EXPECT_CUDA(cudaMemPrefetchAsync(data, 64, cudaCpuDeviceId, nullptr), cudaSuccess);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(std::string(data, 64), std::string(64, 'm'));
  expect_error(cudaMemAdvise(data, 65, cudaMemAdviseSetReadMostly, 0), cudaErrorInvalidValue);
  expect_error(cudaMemAdvise(data, 64, static_cast<cudaMemoryAdvise>(77), 0),
               cudaErrorInvalidValue);
  expect_error(cudaMemPrefetchAsync(data, 64, 1000, nullptr), cudaErrorInvalidDevice);
  expect_error(cudaMemPrefetchAsync(data, 65, 0, nullptr), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(data));
  expect_error(cudaMallocManaged(&data, 64, 9), cudaErrorInvalidValue);
  expect_error(cudaMallocManaged(&data, 0), cudaErrorInvalidValue);
}

TEST_F(Cuda, HandlesOfSharedMemoryAreForOtherProcesses) {
  void* data = nullptr;
  void* opened = nullptr;
  cudaIpcMemHandle_t handle;
  ASSERT_CUDA(cudaMalloc(&data, 64));
  ASSERT_CUDA(cudaIpcGetMemHandle(&handle, data));
  expect_error(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess),
               cudaErrorInvalidResourceHandle);
  expect_error(cudaIpcOpenMemHandle(&opened, handle, 0), cudaErrorInvalidValue);
  expect_error(cudaIpcOpenMemHandle(nullptr, handle, cudaIpcMemLazyEnablePeerAccess),
               cudaErrorInvalidValue);
  std::memset(&handle, 0, sizeof(handle));
  expect_error(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess),
               cudaErrorInvalidResourceHandle);
  expect_error(cudaIpcGetMemHandle(&handle, &opened), cudaErrorInvalidValue);
  expect_error(cudaIpcCloseMemHandle(data), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(data));
}

}  // namespace
}  // namespace commrig::faces
