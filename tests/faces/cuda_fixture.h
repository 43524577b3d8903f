// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <thread>

#include "tests/faces/ranks.h"

namespace commrig::faces {

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

}  // namespace commrig::faces
