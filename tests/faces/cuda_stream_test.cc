// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/cuda_fixture.h"

// Streams of the host runtime and the functions on them.
namespace commrig::faces {
namespace {

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

TEST_F(Cuda, StreamsTellTheirDeviceAndANumberOfTheirOwn) {
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  ASSERT_CUDA(cudaStreamCreate(&first));
  ASSERT_CUDA(cudaSetDevice(2));
  ASSERT_CUDA(cudaStreamCreate(&second));
  int device = -1;
  ASSERT_CUDA(cudaStreamGetDevice(first, &device));
  EXPECT_EQ(device, 0);
  ASSERT_CUDA(cudaStreamGetDevice(second, &device));
  EXPECT_EQ(device, 2);
  ASSERT_CUDA(cudaStreamGetDevice(nullptr, &device));
  EXPECT_EQ(device, 2) << "the null stream is that of the current device";
  unsigned long long numbers[2] = {};
  ASSERT_CUDA(cudaStreamGetId(first, &numbers[0]));
  ASSERT_CUDA(cudaStreamGetId(second, &numbers[1]));
  EXPECT_NE(numbers[0], numbers[1]);
  expect_error(cudaStreamGetId(first, nullptr), cudaErrorInvalidValue);
  expect_error(cudaStreamGetDevice(first, nullptr), cudaErrorInvalidValue);
  expect_error(cudaStreamGetFlags(first, nullptr), cudaErrorInvalidValue);
  expect_error(cudaStreamGetPriority(first, nullptr), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaStreamDestroy(first));
  ASSERT_CUDA(cudaStreamDestroy(second));
  expect_error(cudaStreamGetId(first, &numbers[0]), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamGetDevice(first, &device), cudaErrorInvalidResourceHandle);
}

TEST_F(Cuda, AHandleOfAnotherKindIsNoStream) {
  cudaEvent_t event = nullptr;
  ASSERT_CUDA(cudaEventCreate(&event));
  int place = 0;
  for (void* const wrong : {static_cast<void*>(event), static_cast<void*>(&place)}) {
    auto* const stream = static_cast<cudaStream_t>(wrong);
    expect_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamWaitEvent(stream, event, 0), cudaErrorInvalidResourceHandle);
    expect_error(cudaLaunchHostFunc(stream, Gate::wait, nullptr), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  }
  ASSERT_CUDA(cudaEventDestroy(event));
}

TEST_F(Cuda, CallbacksComeInTheOrderOfTheStream) {
  std::string order;
  const auto append = [](void* text) { static_cast<std::string*>(text)->push_back('h'); };
  const auto after = [](cudaStream_t, cudaError_t, void* text) {
    static_cast<std::string*>(text)->push_back('c');
  };
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, append, &order));
  ASSERT_CUDA(cudaStreamAddCallback(nullptr, after, &order, 0));
  ASSERT_CUDA(cudaLaunchHostFunc(nullptr, append, &order));
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(order, "hch");
  expect_error(cudaStreamAddCallback(nullptr, nullptr, &order, 0), cudaErrorInvalidValue);
  expect_error(cudaStreamAddCallback(nullptr, after, &order, 1), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace commrig::faces
