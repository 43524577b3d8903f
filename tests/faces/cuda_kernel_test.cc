// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <commrig_kernel.h>

#include <cstring>

#include "tests/faces/cuda_fixture.h"

// What code that nvcc has compiled calls.
extern "C" {
void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFatBinaryEnd(void** module);
void __cudaUnregisterFatBinary(void** module);
void __cudaRegisterFunction(void** module, const char* host, char* device, const char* name,
                            int threads, void*, void*, void*, void*, int*);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
}

// Kernels: those of the host run, others are refused.
namespace commrig::faces {
namespace {

void add(const commrigLaunch& launch, int* data, int count, int by) {
  for (int i = 0; i < count; ++i) data[i] += by * static_cast<int>(launch.grid.x);
}
void unregistered(int) {}

TEST_F(Cuda, ARegisteredFunctionRunsInThePlaceOfAKernel) {
  ASSERT_CUDA(commrigRegisterKernel(add));
  int* data = nullptr;
  int count = 3;
  int by = 5;
  ASSERT_CUDA(cudaMalloc(&data, 12));
  ASSERT_CUDA(cudaMemset(data, 0, 12));
  void* arguments[] = {&data, &count, &by};
  const void* const function = reinterpret_cast<const void*>(add);
  ASSERT_CUDA(cudaLaunchKernel(function, dim3(2), dim3(1), arguments, 0, nullptr));
  by = 100;  // The arguments were copied.
  int back[3] = {};
  ASSERT_CUDA(cudaMemcpy(back, data, 12, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[2], 10);
  expect_error(cudaLaunchKernel(function, dim3(0), dim3(1), arguments, 0, nullptr),
               cudaErrorInvalidConfiguration);
  ASSERT_CUDA(cudaFree(data));
}

TEST_F(Cuda, ALaunchNeedsArgumentsAndAStream) {
  ASSERT_CUDA(commrigRegisterKernel(add));
  const void* const function = reinterpret_cast<const void*>(add);
  int count = 0;
  int* data = nullptr;
  void* arguments[] = {&data, &count, &count};
  expect_error(cudaLaunchKernel(function, dim3(1), dim3(1), nullptr, 0, nullptr),
               cudaErrorInvalidValue);
  expect_error(cudaLaunchKernel(function, dim3(1), dim3(1, 0), arguments, 0, nullptr),
               cudaErrorInvalidConfiguration);
  cudaStream_t gone = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&gone));
  ASSERT_CUDA(cudaStreamDestroy(gone));
  expect_error(cudaLaunchKernel(function, dim3(1), dim3(1), arguments, 0, gone),
               cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaLaunchCooperativeKernel(function, dim3(1), dim3(1), arguments, 0, nullptr),
              cudaSuccess);
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  expect_error(commrigRegisterKernelBody(nullptr, nullptr, nullptr, 0), cudaErrorInvalidValue);
}

TEST_F(Cuda, RegisteredFunctionsTellAttributes) {
  ASSERT_CUDA(commrigRegisterKernel(add));
  const void* const known = reinterpret_cast<const void*>(add);
  const void* const unknown = reinterpret_cast<const void*>(unregistered);
  cudaFuncAttributes attributes{};
  ASSERT_CUDA(cudaFuncGetAttributes(&attributes, known));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  expect_error(cudaFuncGetAttributes(&attributes, unknown), cudaErrorInvalidDeviceFunction);
  expect_error(cudaFuncGetAttributes(nullptr, known), cudaErrorInvalidValue);
  const auto shared = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_CUDA(cudaFuncSetAttribute(known, shared, 65536), cudaSuccess);
  expect_error(cudaFuncSetAttribute(unknown, shared, 65536), cudaErrorInvalidDeviceFunction);
  int blocks = 0;
  ASSERT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, known, 128, 0));
  EXPECT_GE(blocks, 1);
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, unknown, 128, 0),
               cudaErrorInvalidDeviceFunction);
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, known, 0, 0),
               cudaErrorInvalidValue);
}

TEST_F(Cuda, AFunctionThatNobodyHasRegisteredIsNamedAsNoKernel) {
  void* arguments[] = {nullptr};
  const void* const function = reinterpret_cast<const void*>(unregistered);
  ::testing::internal::CaptureStderr();
  expect_error(cudaLaunchKernel(function, dim3(1), dim3(1), arguments, 0, nullptr),
               cudaErrorInvalidDeviceFunction);
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("CR-RT01: a launch of a function that is not registered"), std::string::npos)
      << told;
}

void device_stub() {}

TEST_F(Cuda, AKernelThatWasCompiledForAGpuIsRefusedByItsName) {
  // As nvcc's code does before main() and at each <<<...>>>.
  void** const module = __cudaRegisterFatBinary(nullptr);
  __cudaRegisterFunction(module, reinterpret_cast<const char*>(device_stub), nullptr, "_Z5scalePfi",
                         -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(module);
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(2), dim3(3), 16, nullptr), 0U);
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.x, 2U);
  EXPECT_EQ(block.x, 3U);
  EXPECT_EQ(shared, 16U);
  expect_error(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
               cudaErrorMissingConfiguration);
  ::testing::internal::CaptureStderr();
  expect_error(cudaLaunchKernel(reinterpret_cast<const void*>(device_stub), grid, block, nullptr,
                                shared, stream),
               cudaErrorNotSupported);
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("CR-RT01: the kernel '_Z5scalePfi' was compiled for a GPU"),
            std::string::npos)
      << told;
  __cudaUnregisterFatBinary(module);
}

TEST_F(Cuda, WhatIsNotOfferedIsRefusedByItsName) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaEvent_t event = nullptr;
  cudaIpcEventHandle_t handle;
  std::memset(&handle, 0, sizeof(handle));
  const auto refused = [](const char* name, cudaError_t found, cudaError_t expected) {
    const std::string told = ::testing::internal::GetCapturedStderr();
    expect_error(found, expected);
    EXPECT_NE(told.find(std::string("CR-RT03: ") + name), std::string::npos) << told;
    ::testing::internal::CaptureStderr();
  };
  ::testing::internal::CaptureStderr();
  refused("cudaStreamBeginCapture", cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
          cudaErrorStreamCaptureUnsupported);
  refused("cudaGraphCreate", cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  refused("cudaGraphInstantiate", cudaGraphInstantiate(&exec, graph, 0), cudaErrorNotSupported);
  refused("cudaGraphLaunch", cudaGraphLaunch(exec, nullptr), cudaErrorNotSupported);
  refused("cudaGraphDestroy", cudaGraphDestroy(graph), cudaErrorNotSupported);
  refused("cudaGraphExecDestroy", cudaGraphExecDestroy(exec), cudaErrorNotSupported);
  refused("cudaIpcGetEventHandle", cudaIpcGetEventHandle(&handle, event), cudaErrorNotSupported);
  refused("cudaIpcOpenEventHandle", cudaIpcOpenEventHandle(&event, handle), cudaErrorNotSupported);
  (void)::testing::internal::GetCapturedStderr();
}

TEST_F(Cuda, NothingIsEverCaptured) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  ASSERT_CUDA(cudaStreamIsCapturing(nullptr, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  expect_error(cudaStreamIsCapturing(nullptr, nullptr), cudaErrorInvalidValue);
  int place = 0;
  expect_error(cudaStreamIsCapturing(reinterpret_cast<cudaStream_t>(&place), &status),
               cudaErrorInvalidResourceHandle);
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(&place);
  expect_error(cudaStreamEndCapture(nullptr, &graph), cudaErrorIllegalState);
  EXPECT_EQ(graph, nullptr);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  mode = static_cast<cudaStreamCaptureMode>(9);
  expect_error(cudaThreadExchangeStreamCaptureMode(&mode), cudaErrorInvalidValue);
  expect_error(cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace commrig::faces
