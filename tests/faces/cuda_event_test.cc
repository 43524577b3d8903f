// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/cuda_fixture.h"

// Events of the host runtime.
namespace commrig::faces {
namespace {

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

TEST_F(Cuda, FlagsOfARecordAndOfAWaitAreChecked) {
  cudaEvent_t event = nullptr;
  ASSERT_CUDA(cudaEventCreate(&event));
  EXPECT_CUDA(cudaEventRecordWithFlags(event, nullptr, cudaEventRecordDefault), cudaSuccess);
  expect_error(cudaEventRecordWithFlags(event, nullptr, 9), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamWaitEvent(nullptr, event, cudaEventWaitDefault), cudaSuccess);
  expect_error(cudaStreamWaitEvent(nullptr, event, 9), cudaErrorInvalidValue);
  expect_error(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  expect_error(cudaEventElapsedTime(nullptr, event, event), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaEventSynchronize(event));
  ASSERT_CUDA(cudaEventDestroy(event));
}

TEST_F(Cuda, ADestroyedOrForeignEventIsRefusedEverywhere) {
  cudaEvent_t gone = nullptr;
  cudaStream_t stream = nullptr;
  float ms = 0;
  ASSERT_CUDA(cudaEventCreate(&gone));
  ASSERT_CUDA(cudaEventDestroy(gone));
  ASSERT_CUDA(cudaStreamCreate(&stream));
  for (void* const wrong : {static_cast<void*>(gone), static_cast<void*>(stream),
                            static_cast<void*>(&ms), static_cast<void*>(nullptr)}) {
    auto* const event = static_cast<cudaEvent_t>(wrong);
    expect_error(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamWaitEvent(nullptr, event, 0), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  }
  ASSERT_CUDA(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace commrig::faces
