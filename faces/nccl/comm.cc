// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/nccl/comm.h"

#include <fmt/format.h>

#include "faces/nccl/translate.h"
#include "rig/handles.h"

namespace commrig::nccl {
namespace {

rig::Handles<Comm>& comms() {
  static auto* const kComms = new rig::Handles<Comm>(7);  // tidy: allow(new) until the process ends
  return *kComms;
}

}  // namespace

ncclComm_t add_comm(CommPtr comm) {
  return static_cast<ncclComm_t>(comms().add(std::move(comm)));
}

CommPtr remove_comm(ncclComm_t handle) {
  return comms().remove(handle);
}

ncclResult_t find_comm(ncclComm_t handle, std::string_view call, CommPtr& comm) {
  if (handle == nullptr) {
    return refuse(ncclInvalidArgument, fmt::format("{} : comm argument is NULL", call));
  }
  comm = comms().find(handle);
  if (comm != nullptr) return ncclSuccess;
  const bool destroyed = comms().was_given(handle);
  return refuse(ncclInvalidArgument, fmt::format("{} : corrupted comm object detected: {} {}", call,
                                                 static_cast<const void*>(handle),
                                                 destroyed ? "was destroyed or aborted before"
                                                           : "is no communicator of this process"));
}

ncclResult_t find_ready_comm(ncclComm_t handle, std::string_view call, CommPtr& comm) {
  COMMRIG_NCCL_TRY(find_comm(handle, call, comm));
  switch (comm->phase.load(std::memory_order_acquire)) {
    case Phase::kReady:
      return ncclSuccess;
    case Phase::kJoining:
      return refuse(ncclInvalidArgument,
                    fmt::format("{} : the communicator is still being set up; end the group, or "
                                "wait until ncclCommGetAsyncError gives ncclSuccess",
                                call));
    case Phase::kFinalized:
      return refuse(ncclInvalidArgument, fmt::format("{} : the communicator is finalized", call));
    case Phase::kFailed:
      break;
  }
  return refuse(ncclInvalidArgument,
                fmt::format("{} : the communicator could not be set up", call));
}

ncclRedOp_t next_user_op() {
  static std::atomic<int> next{ncclNumOps};
  return static_cast<ncclRedOp_t>(next.fetch_add(1));
}

}  // namespace commrig::nccl
