// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <functional>
#include <variant>

#include "faces/nccl/comm.h"
#include "faces/nccl/include/nccl.h"

// What ncclGroupStart and ncclGroupEnd collect. A group is its thread's; without one, each call is
// a group by itself.
namespace commrig::nccl {

struct CollectiveOp {
  comm::Call call;
  rig::Scale scale;
};

// An operation on its way to a stream.
struct Operation {
  CommPtr comm;
  void* stream;
  std::variant<CollectiveOp, comm::Message> what;
};

// The joining of one rank: `run` sets up `comm` and may wait for other ranks. If it fails, the
// handle is taken back from `target`.
struct Job {
  CommPtr comm;
  ncclComm_t* target;
  std::function<ncclResult_t(Comm&)> run;
};

// What a function of the interface returns: inside a group, its error is the group's too.
ncclResult_t remember(ncclResult_t result);

// Done now, or at the end of the group.
ncclResult_t submit(Operation operation);
ncclResult_t submit(Job job);

}  // namespace commrig::nccl
