/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef COMMRIG_KERNEL_H
#define COMMRIG_KERNEL_H

/* Functions of the host in the place of kernels, for cudaLaunchKernel: what was compiled for a GPU
 * is not executed here. In C++:
 *
 *   static void scale(const commrigLaunch &launch, float *data, int count, float factor) { ... }
 *
 *   commrigRegisterKernel(scale);
 *   void *arguments[] = {&data, &count, &factor};
 *   cudaLaunchKernel(reinterpret_cast<const void *>(scale), grid, block, arguments, 0, stream);
 *
 * The function is called once a launch, when its stream comes to it, on a thread of its own; it
 * does the work of the whole grid. The arguments are copied when it is launched. It must not call
 * the runtime (CR-RT04). */
#include "cuda_runtime.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct commrigLaunch {
  dim3 grid;
  dim3 block;
  size_t sharedBytes;
  int device;
} commrigLaunch;

/* `function` is what was registered, so that one body may serve several. */
typedef void (*commrigKernelBody)(const void* function, const commrigLaunch* launch,
                                  void* const* arguments);

/* Launches of `function` call `body` from now on, with copies of `count` arguments of so many bytes
 * each, aligned to 16 bytes. Registering anew replaces. cudaErrorInvalidValue for null pointers. */
__attribute__((visibility("default"))) cudaError_t commrigRegisterKernelBody(
    const void* function, commrigKernelBody body, const size_t* argumentBytes, size_t count);

#if defined(__cplusplus)
}

#include <type_traits>

template <class... Parameters>
struct commrigKernelCaller {
  using Function = void (*)(const commrigLaunch&, Parameters...);

  static void call(const void* function, const commrigLaunch* launch, void* const* arguments) {
    (void)arguments; /* without parameters there are none */
    take(reinterpret_cast<Function>(const_cast<void*>(function)), *launch, arguments,
         Indices<sizeof...(Parameters)>());
  }

 private:
  template <size_t... I>
  struct List {};
  template <size_t N, size_t... I>
  struct Count : Count<N - 1, N - 1, I...> {};
  template <size_t... I>
  struct Count<0, I...> : List<I...> {};
  template <size_t N>
  using Indices = Count<N>;

  template <size_t... I>
  static void take(Function function, const commrigLaunch& launch, void* const* arguments,
                   List<I...>) {
    (void)arguments;
    function(launch, *static_cast<typename std::decay<Parameters>::type*>(arguments[I])...);
  }
};

/* The same for a function as it is; its parameters are copied as bytes. */
template <class... Parameters>
static inline cudaError_t commrigRegisterKernel(void (*function)(const commrigLaunch&,
                                                                 Parameters...)) {
  const size_t bytes[] = {sizeof(typename std::decay<Parameters>::type)..., 0};
  return commrigRegisterKernelBody(reinterpret_cast<const void*>(function),
                                   &commrigKernelCaller<Parameters...>::call, bytes,
                                   sizeof...(Parameters));
}
#endif

#endif /* COMMRIG_KERNEL_H */
