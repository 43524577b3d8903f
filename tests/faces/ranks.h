// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace commrig::faces {

// "ncclAllReduce gives 4: AllReduce : comm argument is NULL", where it isn't what was expected.
inline ::testing::AssertionResult gives(ncclResult_t result, ncclResult_t expected) {
  if (result == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "gives " << result << ", expected " << expected
                                       << "; last error: " << ncclGetLastError(nullptr);
}
#define EXPECT_NCCL(call, expected) EXPECT_TRUE(gives((call), (expected))) << #call
#define ASSERT_NCCL(call) ASSERT_TRUE(gives((call), ncclSuccess)) << #call
#define EXPECT_CUDA(call, expected) EXPECT_EQ((call), (expected)) << #call
#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << #call

inline std::string last_error() {
  return ncclGetLastError(nullptr);
}

// Every type by its number; `exact` numbers are those that all of them hold.
struct Type {
  ncclDataType_t type;
  const char* name;
  std::size_t bytes;
};
inline constexpr Type kTypes[] = {
    {ncclInt8, "int8", 1},         {ncclUint8, "uint8", 1},         {ncclInt32, "int32", 4},
    {ncclUint32, "uint32", 4},     {ncclInt64, "int64", 8},         {ncclUint64, "uint64", 8},
    {ncclFloat16, "half", 2},      {ncclFloat32, "float", 4},       {ncclFloat64, "double", 8},
    {ncclBfloat16, "bfloat16", 2}, {ncclFloat8e4m3, "fp8_e4m3", 1}, {ncclFloat8e5m2, "fp8_e5m2", 1},
};

template <class T>
void store(void* target, std::size_t i, T value) {
  std::memcpy(static_cast<std::byte*>(target) + i * sizeof(T), &value, sizeof(T));
}

// Element i of a buffer of this type becomes the value; integers modulo 2^bits.
inline void write(ncclDataType_t type, void* target, std::size_t i, double value) {
  const auto whole = static_cast<std::int64_t>(value);
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return store(target, i, static_cast<std::uint8_t>(whole));
    case ncclInt32:
    case ncclUint32:
      return store(target, i, static_cast<std::uint32_t>(whole));
    case ncclInt64:
    case ncclUint64:
      return store(target, i, whole);
    case ncclFloat16:
      return store(target, i, __half(value));
    case ncclBfloat16:
      return store(target, i, __nv_bfloat16(value));
    case ncclFloat8e4m3:
      return store(target, i, __nv_fp8_e4m3(value));
    case ncclFloat8e5m2:
      return store(target, i, __nv_fp8_e5m2(value));
    case ncclFloat32:
      return store(target, i, static_cast<float>(value));
    default:
      return store(target, i, value);
  }
}

inline std::vector<std::byte> elements(const Type& type, std::size_t count,
                                       const std::function<double(std::size_t)>& value) {
  std::vector<std::byte> made(type.bytes * count);
  for (std::size_t i = 0; i < count; ++i) write(type.type, made.data(), i, value(i));
  return made;
}

inline std::vector<std::byte> ints(std::size_t count, int value) {
  return elements(kTypes[ncclInt32], count, [value](std::size_t) { return value; });
}

// The ranks 0 to n-1 on the devices of the same numbers, all driven by this thread.
class Ranks {
 public:
  explicit Ranks(int ranks) : comms(static_cast<std::size_t>(ranks)) {
    EXPECT_NCCL(ncclCommInitAll(comms.data(), ranks, nullptr), ncclSuccess);
    for (int r = 0; r < ranks; ++r) {
      EXPECT_CUDA(cudaSetDevice(r), cudaSuccess);
      cudaStream_t stream = nullptr;
      EXPECT_CUDA(cudaStreamCreate(&stream), cudaSuccess);
      streams.push_back(stream);
    }
    EXPECT_CUDA(cudaSetDevice(0), cudaSuccess);
  }
  ~Ranks() {
    for (const ncclComm_t comm : comms) EXPECT_NCCL(ncclCommDestroy(comm), ncclSuccess);
    for (const cudaStream_t stream : streams) EXPECT_CUDA(cudaStreamDestroy(stream), cudaSuccess);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const { return static_cast<int>(comms.size()); }

  // Calls `body` for every rank inside a group.
  void together(const std::function<ncclResult_t(int rank)>& body) const {
    EXPECT_NCCL(ncclGroupStart(), ncclSuccess);
    for (int r = 0; r < size(); ++r) EXPECT_NCCL(body(r), ncclSuccess);
    EXPECT_NCCL(ncclGroupEnd(), ncclSuccess);
  }
  void synchronize() const {
    for (const cudaStream_t stream : streams)
      EXPECT_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  }

  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;
};

inline ncclConfig_t nonblocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

// Device memory with these contents.
class Buffer {
 public:
  Buffer(int device, const std::vector<std::byte>& contents) : bytes_(contents.size()) {
    EXPECT_CUDA(cudaSetDevice(device), cudaSuccess);
    EXPECT_CUDA(cudaMalloc(&data_, bytes_), cudaSuccess);
    EXPECT_CUDA(cudaMemcpy(data_, contents.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  Buffer(Buffer&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  Buffer& operator=(Buffer&& other) = delete;
  ~Buffer() { EXPECT_CUDA(cudaFree(data_), cudaSuccess); }

  void* at(std::size_t offset = 0) const { return static_cast<std::byte*>(data_) + offset; }
  std::vector<std::byte> read() const {
    std::vector<std::byte> contents(bytes_);
    EXPECT_CUDA(cudaMemcpy(contents.data(), data_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
    return contents;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace commrig::faces
