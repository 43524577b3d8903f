// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <thread>

#include "tests/faces/cuda_fixture.h"

// Devices and errors of the host runtime.
namespace commrig::faces {
namespace {

TEST_F(Cuda, TheCurrentDeviceIsTheThreadsOwn) {
  int count = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&count));
  ASSERT_GE(count, 8);
  ASSERT_CUDA(cudaSetDevice(3));
  int other = -1;
  std::thread([&] { EXPECT_CUDA(cudaGetDevice(&other), cudaSuccess); }).join();
  EXPECT_EQ(other, 0);
  int mine = -1;
  ASSERT_CUDA(cudaGetDevice(&mine));
  EXPECT_EQ(mine, 3);
  expect_error(cudaSetDevice(count), cudaErrorInvalidDevice);
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  expect_error(cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

TEST_F(Cuda, PropertiesAndAttributesAgreeAndBusIdsDiffer) {
  cudaDeviceProp first{};
  cudaDeviceProp second{};
  ASSERT_CUDA(cudaGetDeviceProperties(&first, 0));
  ASSERT_CUDA(cudaGetDeviceProperties(&second, 1));
  int major = 0;
  ASSERT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(major, first.major);
  EXPECT_EQ(major, 9);
  EXPECT_NE(first.pciBusID, second.pciBusID);
  char id[32] = {};
  ASSERT_CUDA(cudaDeviceGetPCIBusId(id, sizeof(id), 1));
  int device = -1;
  ASSERT_CUDA(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(device, 1);
  expect_error(cudaDeviceGetPCIBusId(id, 4, 0), cudaErrorInvalidValue);
  expect_error(cudaDeviceGetAttribute(&major, static_cast<cudaDeviceAttr>(0), 0),
               cudaErrorInvalidValue);
  expect_error(cudaGetDeviceProperties(&first, 1000), cudaErrorInvalidDevice);
  expect_error(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
}

TEST_F(Cuda, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotReady), "device not ready");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  int version = 0;
  ASSERT_CUDA(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
}

TEST_F(Cuda, FlagsLimitsAndVersionsAreTold) {
  EXPECT_CUDA(cudaInitDevice(1, 0, 0), cudaSuccess);
  expect_error(cudaInitDevice(1000, 0, 0), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleYield), cudaSuccess);
  expect_error(cudaSetDeviceFlags(0x4000), cudaErrorInvalidValue);
  unsigned flags = 0;
  ASSERT_CUDA(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags & cudaDeviceMapHost, static_cast<unsigned>(cudaDeviceMapHost));
  expect_error(cudaGetDeviceFlags(nullptr), cudaErrorInvalidValue);

  std::size_t bytes = 0;
  for (const cudaLimit limit :
       {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize}) {
    ASSERT_CUDA(cudaDeviceGetLimit(&bytes, limit));
    EXPECT_GT(bytes, 0U);
    EXPECT_CUDA(cudaDeviceSetLimit(limit, bytes), cudaSuccess);
  }
  const auto unknown = static_cast<cudaLimit>(99);
  expect_error(cudaDeviceGetLimit(&bytes, unknown), cudaErrorUnsupportedLimit);
  expect_error(cudaDeviceSetLimit(unknown, 1), cudaErrorUnsupportedLimit);
  expect_error(cudaDeviceGetLimit(nullptr, cudaLimitStackSize), cudaErrorInvalidValue);

  int driver = 0;
  ASSERT_CUDA(cudaDriverGetVersion(&driver));
  EXPECT_GE(driver, CUDART_VERSION);
  expect_error(cudaDriverGetVersion(nullptr), cudaErrorInvalidValue);
  expect_error(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  expect_error(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
}

TEST_F(Cuda, DevicesReachEachOthersMemory) {
  int can = -1;
  ASSERT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  ASSERT_CUDA(cudaDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_CUDA(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  expect_error(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidValue);  // its own
  expect_error(cudaDeviceEnablePeerAccess(1, 7), cudaErrorInvalidValue);
  expect_error(cudaDeviceEnablePeerAccess(1000, 0), cudaErrorInvalidDevice);
  expect_error(cudaDeviceDisablePeerAccess(-1), cudaErrorInvalidDevice);
  expect_error(cudaDeviceCanAccessPeer(&can, 0, 1000), cudaErrorInvalidDevice);
  expect_error(cudaDeviceCanAccessPeer(nullptr, 0, 1), cudaErrorInvalidValue);
}

TEST_F(Cuda, AResetWaitsForTheWorkOfTheDevice) {
  void* data = nullptr;
  ASSERT_CUDA(cudaMalloc(&data, 4));
  std::atomic<bool> done{false};
  ASSERT_CUDA(cudaLaunchHostFunc(
      nullptr, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &done));
  ASSERT_CUDA(cudaDeviceReset());
  EXPECT_TRUE(done.load());
  ASSERT_CUDA(cudaFree(data));
}

TEST_F(Cuda, AnErrorIsTheThreadsOwn) {
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaError_t other = cudaErrorUnknown;
  std::thread([&other] { other = cudaGetLastError(); }).join();
  EXPECT_EQ(other, cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace commrig::faces
