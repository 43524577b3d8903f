// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <exception>
#include <string>

#include "base/result.h"
#include "faces/nccl/include/nccl.h"

// Each function of the interface under its two names: pncclX, and the weak ncclX, which a tool may
// define in its place. The body follows.
#define COMMRIG_NCCL(name, ...)                                                      \
  extern "C" ncclResult_t name(__VA_ARGS__) __attribute__((weak, alias("p" #name))); \
  extern "C" ncclResult_t p##name(__VA_ARGS__)

// Leaves the function with what isn't ncclSuccess.
#define COMMRIG_NCCL_TRY(expression)                                                    \
  do {                                                                                  \
    if (const ncclResult_t result = (expression); result != ncclSuccess) return result; \
  } while (false)

namespace commrig::nccl {

// The code for an error, whose text becomes the last error.
ncclResult_t translate(const Error& error);
ncclResult_t translate(const Status& status);

// Makes the text the last error.
ncclResult_t refuse(ncclResult_t code, const std::string& text);

// The body of a function; nothing is thrown beyond it.
template <class Body>
ncclResult_t enter(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& exception) {
    return refuse(ncclInternalError, exception.what());
  }
}

}  // namespace commrig::nccl
