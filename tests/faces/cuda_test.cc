// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <commrig_kernel.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "tests/faces/ranks.h"

// The host runtime: devices, memory, streams, events, kernels and errors.
namespace commrig::faces {
namespace {

// Ends a test without an error that the next one could see.
class Cuda : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_CUDA(cudaSetDevice(0)); }
  void TearDown() override { EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left behind"; }
  static void expect_error(cudaError_t found, cudaError_t expected) {
    EXPECT_EQ(found, expected) << cudaGetErrorName(found);
    EXPECT_EQ(cudaPeekAtLastError(), expected);
    EXPECT_EQ(cudaGetLastError(), expected);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
};

// A host function that waits until it is let go.
struct Gate {
  std::atomic<bool> open{false};
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open.load()) std::this_thread::yield();
  }
};

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

TEST_F(Cuda, AStreamIsNotReadyUntilItsWorkIsDone) {
  Gate gate;
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  expect_error(cudaStreamQuery(stream), cudaErrorNotReady);
  gate.open = true;
  ASSERT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaStreamQuery(stream), cudaSuccess);
  ASSERT_CUDA(cudaStreamDestroy(stream));
  expect_error(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
  expect_error(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
}

TEST_F(Cuda, TheNullStreamWaitsForBlockingStreamsAndTheyForIt) {
  Gate gate;
  cudaStream_t blocking = nullptr;
  cudaStream_t free = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&blocking));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaLaunchHostFunc(blocking, Gate::wait, &gate));
  expect_error(cudaStreamQuery(nullptr), cudaErrorNotReady);
  expect_error(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
  EXPECT_CUDA(cudaStreamQuery(free), cudaSuccess);
  gate.open = true;
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_CUDA(cudaStreamQuery(blocking), cudaSuccess);

  Gate other;
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, Gate::wait, &other));
  expect_error(cudaStreamQuery(blocking), cudaErrorNotReady);
  expect_error(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  EXPECT_CUDA(cudaStreamQuery(free), cudaSuccess);
  other.open = true;
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaStreamQuery(blocking), cudaSuccess);
  ASSERT_CUDA(cudaStreamDestroy(blocking));
  ASSERT_CUDA(cudaStreamDestroy(free));
}

TEST_F(Cuda, StreamsTellTheirFlagsAndPriorities) {
  int least = -1;
  int greatest = 0;
  ASSERT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LT(greatest, least);
  cudaStream_t stream = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 7));
  int priority = 0;
  unsigned flags = 0;
  ASSERT_CUDA(cudaStreamGetPriority(stream, &priority));
  ASSERT_CUDA(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  ASSERT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(Cuda, EventsOrderStreamsAndTellTime) {
  Gate gate;
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaEventCreate(&start));
  ASSERT_CUDA(cudaEventCreate(&end));
  float ms = -1;
  EXPECT_CUDA(cudaEventQuery(start), cudaSuccess);
  EXPECT_CUDA(cudaEventSynchronize(start), cudaSuccess);
  expect_error(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_CUDA(cudaEventRecord(start, first));
  ASSERT_CUDA(cudaLaunchHostFunc(first, Gate::wait, &gate));
  ASSERT_CUDA(cudaEventRecord(end, first));
  ASSERT_CUDA(cudaStreamWaitEvent(second, end, 0));
  expect_error(cudaEventQuery(end), cudaErrorNotReady);
  expect_error(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
  expect_error(cudaStreamQuery(second), cudaErrorNotReady);
  gate.open = true;
  ASSERT_CUDA(cudaEventSynchronize(end));
  ASSERT_CUDA(cudaEventElapsedTime(&ms, start, end));
  EXPECT_GE(ms, 0);
  ASSERT_CUDA(cudaStreamSynchronize(second));
  ASSERT_CUDA(cudaEventDestroy(start));
  ASSERT_CUDA(cudaEventDestroy(end));
  expect_error(cudaEventRecord(end, first), cudaErrorInvalidResourceHandle);
  expect_error(cudaEventCreateWithFlags(&end, 64), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaStreamDestroy(first));
  ASSERT_CUDA(cudaStreamDestroy(second));
}

TEST_F(Cuda, AnEventBelongsToItsDeviceAndMayBeWithoutTime) {
  cudaEvent_t event = nullptr;
  ASSERT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  ASSERT_CUDA(cudaSetDevice(1));
  expect_error(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  ASSERT_CUDA(cudaSetDevice(0));
  ASSERT_CUDA(cudaEventRecord(event, nullptr));
  ASSERT_CUDA(cudaEventSynchronize(event));
  float ms = 0;
  expect_error(cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle);
  ASSERT_CUDA(cudaEventDestroy(event));
}

TEST_F(Cuda, ACallbackMustNotSynchronise) {
  cudaError_t found = cudaSuccess;
  ASSERT_CUDA(cudaLaunchHostFunc(
      nullptr, [](void* to) { *static_cast<cudaError_t*>(to) = cudaDeviceSynchronize(); }, &found));
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(found, cudaErrorNotPermitted);
  ASSERT_CUDA(cudaStreamAddCallback(
      nullptr,
      [](cudaStream_t, cudaError_t status, void* to) { *static_cast<cudaError_t*>(to) = status; },
      &found, 0));
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(found, cudaSuccess);
  expect_error(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
}

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

TEST_F(Cuda, OtherLaunchesAreRefused) {
  void* arguments[] = {nullptr};
  const void* const function = reinterpret_cast<const void*>(unregistered);
  expect_error(cudaLaunchKernel(function, dim3(1), dim3(1), arguments, 0, nullptr),
               cudaErrorInvalidDeviceFunction);
  cudaGraph_t graph = nullptr;
  expect_error(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
               cudaErrorStreamCaptureUnsupported);
  expect_error(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  cudaIpcEventHandle_t handle;
  expect_error(cudaIpcGetEventHandle(&handle, nullptr), cudaErrorNotSupported);
}

TEST_F(Cuda, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotReady), "device not ready");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  int version = 0;
  ASSERT_CUDA(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
}

// Every number of the small types, to a float and back.
TEST(SmallFloats, AreTheSameAfterAFloat) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    __half_raw half;
    half.x = static_cast<unsigned short>(bits);
    const float value = __half2float(half);
    if (value == value) {
      EXPECT_EQ(static_cast<__half_raw>(__half(value)).x, bits);
    }
    __nv_bfloat16_raw brain;
    brain.x = static_cast<unsigned short>(bits);
    const float wide = __bfloat162float(brain);
    if (wide == wide) {
      EXPECT_EQ(static_cast<__nv_bfloat16_raw>(__nv_bfloat16(wide)).x, bits);
    }
  }
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    __nv_fp8_e4m3 e4m3;
    e4m3.__x = static_cast<unsigned char>(bits);
    const auto value = static_cast<float>(e4m3);
    if (value == value) {
      EXPECT_EQ(__nv_fp8_e4m3(value).__x, bits);
    }
  }
}

TEST(SmallFloats, RoundToEvenAndSaturate) {
  EXPECT_EQ(static_cast<__half_raw>(__half(1.00048828125F)).x, 0x3C00);  // half way, down to even
  EXPECT_EQ(static_cast<__half_raw>(__half(1.00146484375F)).x, 0x3C02);  // half way, up to even
  EXPECT_EQ(static_cast<__half_raw>(__half(65520.0F)).x, 0x7C00);
  EXPECT_EQ(static_cast<__half_raw>(__half(2.98e-8F)).x, 0x0000);
  EXPECT_EQ(static_cast<__half_raw>(__half(2.99e-8F)).x, 0x0001);
  EXPECT_EQ(__nv_fp8_e4m3(1e9F).__x, 0x7E);
  EXPECT_EQ(__nv_fp8_e5m2(-1e9F).__x, 0xFB);
  EXPECT_EQ(static_cast<__nv_bfloat16_raw>(__nv_bfloat16(1.00390625F)).x, 0x3F80);
}

}  // namespace
}  // namespace commrig::faces
