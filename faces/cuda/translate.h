// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <exception>

#include "base/result.h"
#include "faces/cuda/include/cuda_runtime_api.h"

namespace commrig::cuda {

// What a function of this face comes to: a code of the vendor's, or an error of ours.
using Outcome = Result<cudaError_t>;

// Keeps it as the thread's last error, if it is one.
cudaError_t remember(cudaError_t error);
cudaError_t take_last_error();
cudaError_t last_error();

// The code for an error, which is also written to standard error, unless the thread has just
// written the same.
cudaError_t translate(const Error& error);

// An exception as cudaErrorUnknown.
cudaError_t from_exception(const char* what);

// What every function of the interface does: its body, the vendor's code for what went wrong, and
// the last error. Nothing is thrown beyond it.
template <class Body>
cudaError_t enter(const Body& body) noexcept {
  try {
    const Outcome outcome = body();
    return remember(outcome ? *outcome : translate(outcome.error()));
  } catch (const std::exception& exception) {
    return remember(from_exception(exception.what()));
  }
}

// The same for a body that ends with a Status.
template <class Body>
cudaError_t enter_status(const Body& body) noexcept {
  return enter([&]() -> Outcome {
    COMMRIG_TRY(body());
    return cudaSuccess;
  });
}

}  // namespace commrig::cuda
