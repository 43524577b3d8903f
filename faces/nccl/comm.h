// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/abort.h"
#include "base/guarded.h"
#include "faces/nccl/config.h"
#include "faces/nccl/include/nccl.h"
#include "rig/communicator.h"

namespace commrig::nccl {

enum class Phase : std::uint8_t { kJoining, kReady, kFinalized, kFailed };

// An operation of ncclRedOpCreatePreMulSum.
struct UserOp {
  ncclDataType_t datatype;
  rig::Scale scale;
};

// What a handle stands for. Number of ranks, rank and device are known at once, the communicator
// when the job that joins it has ended; it is there in the phases kReady and kFinalized.
struct Comm {
  int rank = 0;
  int ranks = 1;
  int device = 0;
  Config config{};
  std::atomic<Phase> phase{Phase::kJoining};
  std::atomic<ncclResult_t> joined{ncclInProgress};  // how the job has ended
  AbortFlag join_abort;                              // ends the job
  rig::Communicator::Ptr communicator;               // shared with calls under way
  std::atomic<std::uint64_t> operations{0};          // for the lines of NCCL_DEBUG
  Guarded<std::map<int, UserOp>> user_ops;           // by the number of the operation
  Guarded<std::map<void*, std::size_t>> registrations;
};

using CommPtr = std::shared_ptr<Comm>;  // shared by the table and calls under way

// The table of handles.
ncclComm_t add_comm(CommPtr comm);
CommPtr remove_comm(ncclComm_t handle);

// The communicator of a handle; null and unknown ones are ncclInvalidArgument, with a text that
// begins with the call's name.
ncclResult_t find_comm(ncclComm_t handle, std::string_view call, CommPtr& comm);

// The same, and it can be used for operations.
ncclResult_t find_ready_comm(ncclComm_t handle, std::string_view call, CommPtr& comm);

// Numbers of user operations are given once for all communicators, so that one is never taken for
// another's.
ncclRedOp_t next_user_op();

}  // namespace commrig::nccl
