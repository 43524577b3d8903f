// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/nccl/translate.h"

#include "faces/nccl/log.h"

namespace commrig::nccl {
namespace {

ncclResult_t code_of(const Error& error) {
  switch (error.code) {
    case Code::kOutOfMemory:
      return ncclUnhandledCudaError;
    case Code::kStreamFailed:
    case Code::kKernelThrew:
      return ncclUnhandledCudaError;
    default:
      break;
  }
  switch (code_info(error.code).kind) {
    case Kind::kInvalidArgument:
      return ncclInvalidArgument;
    case Kind::kProtocol:
    case Kind::kUnsupported:
    case Kind::kState:
      return ncclInvalidUsage;
    case Kind::kPeerLost:
    case Kind::kAborted:
    case Kind::kDeadline:
      return ncclRemoteError;
    case Kind::kExhausted:
    case Kind::kSystem:
      return ncclSystemError;
  }
  return ncclInternalError;
}

}  // namespace

ncclResult_t translate(const Error& error) {
  return refuse(code_of(error), to_string(error));
}

ncclResult_t translate(const Status& status) {
  return status ? ncclSuccess : translate(status.error());
}

ncclResult_t refuse(ncclResult_t code, const std::string& text) {
  warn(text);
  return code;
}

}  // namespace commrig::nccl

extern "C" {

const char* pncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}
const char* ncclGetErrorString(ncclResult_t result)
    __attribute__((weak, alias("pncclGetErrorString")));

const char* pncclGetLastError(ncclComm_t) {
  return commrig::nccl::last_error();
}
const char* ncclGetLastError(ncclComm_t comm) __attribute__((weak, alias("pncclGetLastError")));

void pncclResetDebugInit(void) {
  commrig::nccl::reset_log();
}
void ncclResetDebugInit(void) __attribute__((weak, alias("pncclResetDebugInit")));

}  // extern "C"
