// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cuda/translate.h"

#include <string>
#include <utility>

#include "rig/runtime.h"

namespace commrig::cuda {
namespace {

thread_local cudaError_t last = cudaSuccess;

cudaError_t code_of(const Error& error) {
  switch (error.code) {
    case Code::kOutOfMemory:
      return cudaErrorMemoryAllocation;
    case Code::kBadDevice:
      return cudaErrorInvalidDevice;
    case Code::kNoSuchHandle:
      return cudaErrorInvalidResourceHandle;
    case Code::kInCallback:
      return cudaErrorNotPermitted;
    case Code::kForked:
      return cudaErrorInitializationError;
    case Code::kEventState:
      return cudaErrorNotReady;
    case Code::kDeviceCode:
    case Code::kNotYet:
      return cudaErrorNotSupported;
    case Code::kKernelThrew:
    case Code::kStreamFailed:
      return cudaErrorLaunchFailure;
    default:
      break;
  }
  switch (code_info(error.code).kind) {
    case Kind::kInvalidArgument:
      return cudaErrorInvalidValue;
    case Kind::kExhausted:
      return cudaErrorMemoryAllocation;
    case Kind::kUnsupported:
      return cudaErrorNotSupported;
    case Kind::kSystem:
      return cudaErrorOperatingSystem;
    case Kind::kProtocol:
    case Kind::kPeerLost:
    case Kind::kState:
    case Kind::kAborted:
    case Kind::kDeadline:
      break;
  }
  return cudaErrorUnknown;
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t take_last_error() {
  return std::exchange(last, cudaSuccess);
}

cudaError_t last_error() {
  return last;
}

cudaError_t translate(const Error& error) {
  if (error.code == Code::kEventState) return cudaErrorNotReady;
  thread_local std::string written;
  if (std::string line = to_string(error); line != written) {
    rig::report(error);
    written = std::move(line);
  }
  return code_of(error);
}

cudaError_t from_exception(const char* what) {
  rig::report(Error::make(Code::kSystemCall, what));
  return cudaErrorUnknown;
}

}  // namespace commrig::cuda
