// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "faces/cuda/include/commrig_kernel.h"
#include "faces/cuda/translate.h"
#include "rig/runtime.h"
#include "rig/stream.h"

namespace commrig::cuda {
namespace {

struct Kernel {
  commrigKernelBody body = nullptr;
  std::vector<std::size_t> argument_bytes{};
  std::string name{};  // of one that was compiled for a device
};

// Kernels by the address of their host side, which compilers register before main().
Guarded<std::map<const void*, Kernel>>& kernels() {
  using Kernels = Guarded<std::map<const void*, Kernel>>;
  static auto* const kKernels = new Kernels;  // tidy: allow(new) lives until the process ends
  return *kKernels;
}

struct alignas(16) Chunk {
  std::byte bytes[16];
};

// Copies of a launch's arguments.
class Arguments {
 public:
  Arguments(const std::vector<std::size_t>& sizes, void** values) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<Chunk>& copy = copies_.emplace_back(sizes[i] / sizeof(Chunk) + 1);
      std::memcpy(copy.data(), values[i], sizes[i]);
      addresses_.push_back(copy.data());
    }
  }
  void* const* addresses() const { return addresses_.data(); }

 private:
  std::vector<std::vector<Chunk>> copies_;
  std::vector<void*> addresses_;
};

Outcome refuse(const std::string& name) {
  const bool known = !name.empty();
  const Error error =
      Error::make(Code::kDeviceCode,
                  known ? "the kernel '" + name + "' was compiled for a GPU, and there is none"
                        : "a launch of a function that is not registered as a kernel");
  const cudaError_t code = translate(error);
  return known ? code : cudaErrorInvalidDeviceFunction;
}

bool is_empty(const dim3& size) {
  return size.x == 0 || size.y == 0 || size.z == 0;
}

Outcome launch(const void* function, const commrigLaunch& how, void** values, cudaStream_t stream) {
  Kernel kernel;
  {
    const auto all = kernels().lock();
    const auto place = all->find(function);
    if (place != all->end()) kernel = place->second;
  }
  if (kernel.body == nullptr) return refuse(kernel.name);
  if (is_empty(how.grid) || is_empty(how.block)) return cudaErrorInvalidConfiguration;
  if (values == nullptr && !kernel.argument_bytes.empty()) return cudaErrorInvalidValue;
  // Shared with the copies that std::function makes.
  const auto arguments = std::make_shared<const Arguments>(kernel.argument_bytes, values);
  COMMRIG_TRY(rig::call_on_stream(stream, how.device,
                                  [function, how, arguments, body = kernel.body]() -> Status {
                                    body(function, &how, arguments->addresses());
                                    return ok();
                                  }));
  return cudaSuccess;
}

// The launch configuration of a <<<...>>> on its way from the call to the kernel's host side.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace
}  // namespace commrig::cuda

using namespace commrig::cuda;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

extern "C" {

cudaError_t commrigRegisterKernelBody(const void* function, commrigKernelBody body,
                                      const size_t* argumentBytes, size_t count) {
  return enter([&]() -> Outcome {
    if (function == nullptr || body == nullptr) return cudaErrorInvalidValue;
    if (argumentBytes == nullptr && count != 0) return cudaErrorInvalidValue;
    Kernel kernel{.body = body};
    kernel.argument_bytes.assign(argumentBytes, argumentBytes + count);
    (*kernels().lock())[function] = std::move(kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                             size_t sharedMem, cudaStream_t stream) {
  return enter([&] {
    return launch(func, {gridDim, blockDim, sharedMem, rig::current_device()}, args, stream);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        size_t sharedMem, cudaStream_t stream) {
  return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* func) {
  return enter([&]() -> Outcome {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (!kernels().lock()->contains(func)) return cudaErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->binaryVersion = 90;
    attributes->ptxVersion = 90;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute, int) {
  return enter([&]() -> Outcome {
    return kernels().lock()->contains(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* func,
                                                          int blockSize, size_t) {
  return enter([&]() -> Outcome {
    if (blocks == nullptr || blockSize <= 0) return cudaErrorInvalidValue;
    if (!kernels().lock()->contains(func)) return cudaErrorInvalidDeviceFunction;
    *blocks = 1;
    return cudaSuccess;
  });
}

// What compiled device code calls before main() and around launches. Its kernels are remembered by
// name, so that a refusal can say which it was.
#define COMMRIG_EXPORT __attribute__((visibility("default")))

COMMRIG_EXPORT void** __cudaRegisterFatBinary(void*) {  // NOLINT(bugprone-reserved-identifier)
  static void* handle = nullptr;
  return &handle;
}

COMMRIG_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}  // NOLINT(bugprone-reserved-identifier)

COMMRIG_EXPORT void __cudaUnregisterFatBinary(void**) {}  // NOLINT(bugprone-reserved-identifier)

COMMRIG_EXPORT void __cudaRegisterFunction(  // NOLINT(bugprone-reserved-identifier)
    void**, const char* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
  (*kernels().lock())[host].name = name == nullptr ? "?" : name;
}

COMMRIG_EXPORT void __cudaRegisterVar(  // NOLINT(bugprone-reserved-identifier)
    void**, char*, char*, const char*, int, size_t, int, int) {}

COMMRIG_EXPORT void __cudaRegisterManagedVar(  // NOLINT(bugprone-reserved-identifier)
    void**, void**, char*, const char*, int, size_t, int, int) {}

COMMRIG_EXPORT char __cudaInitModule(void**) {  // NOLINT(bugprone-reserved-identifier)
  return 0;
}

COMMRIG_EXPORT unsigned __cudaPushCallConfiguration(  // NOLINT(bugprone-reserved-identifier)
    dim3 gridDim, dim3 blockDim, size_t sharedMem, void* stream) {
  configurations.push_back({gridDim, blockDim, sharedMem, stream});
  return 0;
}

COMMRIG_EXPORT cudaError_t __cudaPopCallConfiguration(  // NOLINT(bugprone-reserved-identifier)
    dim3* gridDim, dim3* blockDim, size_t* sharedMem, void* stream) {
  return enter([&]() -> Outcome {
    if (configurations.empty()) return cudaErrorMissingConfiguration;
    const Configuration last = configurations.back();
    configurations.pop_back();
    *gridDim = last.grid;
    *blockDim = last.block;
    *sharedMem = last.shared_bytes;
    std::memcpy(stream, &last.stream, sizeof(last.stream));
    return cudaSuccess;
  });
}

}  // extern "C"
