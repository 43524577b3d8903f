// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "faces/nccl/comm.h"
#include "faces/nccl/group.h"
#include "faces/nccl/log.h"
#include "faces/nccl/translate.h"
#include "rig/runtime.h"

// How communicators come to be and go.
namespace commrig::nccl {
namespace {

bootstrap::UniqueId::Bytes bytes_of(const ncclUniqueId& id) {
  bootstrap::UniqueId::Bytes bytes{};
  static_assert(sizeof(bytes) == sizeof(id.internal));
  std::memcpy(bytes.data(), id.internal, sizeof(bytes));
  return bytes;
}

void log_start(const Comm& comm, std::string_view call, const char* what) {
  info(kInit,
       fmt::format("{} comm {} rank {} nranks {} cudaDev {} - Init {}", call,
                   static_cast<const void*>(&comm), comm.rank, comm.ranks, comm.device, what));
}

struct Joining {
  std::string_view call;
  ncclComm_t* comm;
  int ranks;
  ncclUniqueId id;
  int rank;
  const ncclConfig_t* config;
};

ncclResult_t check(const Joining& joining) {
  if (joining.comm == nullptr) {
    return refuse(ncclInvalidArgument, fmt::format("{} : comm argument is NULL", joining.call));
  }
  *joining.comm = nullptr;
  if (joining.ranks >= 1 && joining.rank >= 0 && joining.rank < joining.ranks) return ncclSuccess;
  return refuse(ncclInvalidArgument, fmt::format("{} : invalid rank requested : {}/{}",
                                                 joining.call, joining.rank, joining.ranks));
}

ncclResult_t join(const Joining& joining) {
  return remember(enter([&]() -> ncclResult_t {
    log_version();
    COMMRIG_NCCL_TRY(translate(rig::check_not_in_callback()));
    COMMRIG_NCCL_TRY(check(joining));
    auto made = std::make_shared<Comm>();
    made->rank = joining.rank;
    made->ranks = joining.ranks;
    made->device = rig::current_device();
    COMMRIG_NCCL_TRY(read_config(joining.config, {}, made->config));
    log_start(*made, joining.call, "START");
    *joining.comm = add_comm(made);
    const auto run = [id = bytes_of(joining.id), call = joining.call](Comm& comm) -> ncclResult_t {
      auto joined = rig::Communicator::join(
          id, comm.rank, comm.ranks, comm.device,
          {.abort = &comm.join_abort, .shares_device = ranks_may_share_devices()});
      if (!joined) return translate(joined.error());
      comm.communicator = std::move(joined).value();
      log_start(comm, call, "COMPLETE");
      return ncclSuccess;
    };
    return submit(Job{made, joining.comm, run});
  }));
}

ncclResult_t check_devices(const std::vector<int>& devices) {
  const Result<int> count = rig::device_count();
  if (!count) return translate(count.error());
  std::set<int> seen;
  for (const int device : devices) {
    if (device < 0 || device >= *count) {
      return refuse(ncclInvalidArgument,
                    fmt::format("ncclCommInitAll : device {} of {} devices; set COMMRIG_DEVICES "
                                "for more",
                                device, *count));
    }
    if (!seen.insert(device).second && !ranks_may_share_devices()) {
      return refuse(ncclInvalidUsage,
                    fmt::format("ncclCommInitAll : device {} is named twice", device));
    }
  }
  return ncclSuccess;
}

ncclResult_t init_all(ncclComm_t* comms, const std::vector<int>& devices) {
  auto made = rig::Communicator::create_all(devices);
  if (!made) return translate(made.error());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto comm = std::make_shared<Comm>();
    comm->rank = static_cast<int>(i);
    comm->ranks = static_cast<int>(devices.size());
    comm->device = devices[i];
    comm->communicator = std::move((*made)[i]);
    comm->phase.store(Phase::kReady);
    comm->joined.store(ncclSuccess);
    log_start(*comm, "ncclCommInitAll", "COMPLETE");
    comms[i] = add_comm(std::move(comm));
  }
  return ncclSuccess;
}

// The job of a nonblocking communicator may still be at it.
ncclResult_t wait_for_job(const Comm& comm) {
  return translate(rig::wait_until(
      [&comm] { return comm.joined.load(std::memory_order_acquire) != ncclInProgress; },
      "the set-up of a communicator"));
}

ncclResult_t finalize(Comm& comm) {
  COMMRIG_NCCL_TRY(wait_for_job(comm));
  if (comm.communicator == nullptr) return ncclSuccess;
  if (comm.phase.exchange(Phase::kFinalized) == Phase::kFinalized) return ncclSuccess;
  // An error of its operations was the stream's, and ncclCommGetAsyncError's.
  (void)comm.communicator->finalize();
  return ncclSuccess;
}

// Of a handle that is going to be destroyed.
ncclResult_t take(ncclComm_t handle, std::string_view call, CommPtr& comm) {
  COMMRIG_NCCL_TRY(translate(rig::check_not_in_callback()));
  COMMRIG_NCCL_TRY(find_comm(handle, call, comm));
  if (remove_comm(handle) != nullptr) return ncclSuccess;
  return find_comm(handle, call, comm);
}

ncclResult_t split(const CommPtr& parent, int color, int key, ncclComm_t* newcomm,
                   const ncclConfig_t* config) {
  if (newcomm == nullptr) {
    return refuse(ncclInvalidArgument, "CommSplit : newcomm argument is NULL");
  }
  *newcomm = nullptr;
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) {
    return refuse(
        ncclInvalidArgument,
        fmt::format("CommSplit : color {}; expected 0 or more, or NCCL_SPLIT_NOCOLOR", color));
  }
  auto made = std::make_shared<Comm>();
  made->device = parent->device;
  COMMRIG_NCCL_TRY(read_config(config, parent->config, made->config));
  const bool member = color != NCCL_SPLIT_NOCOLOR;
  if (member) *newcomm = add_comm(made);
  const auto run = [parent, color, key](Comm& comm) -> ncclResult_t {
    auto part = parent->communicator->split(color, key);
    if (!part) return translate(part.error());
    comm.communicator = std::move(part).value();
    if (comm.communicator == nullptr) return ncclSuccess;
    comm.rank = comm.communicator->rank();
    comm.ranks = comm.communicator->ranks();
    log_start(comm, "ncclCommSplit", "COMPLETE");
    return ncclSuccess;
  };
  return submit(Job{made, member ? newcomm : nullptr, run});
}

// A number of the communicator, for the functions that tell one.
ncclResult_t tell(ncclComm_t handle, std::string_view call, int* target, int Comm::* member) {
  return enter([&]() -> ncclResult_t {
    CommPtr comm;
    COMMRIG_NCCL_TRY(find_comm(handle, call, comm));
    if (target == nullptr) {
      return refuse(ncclInvalidArgument, fmt::format("{} : the result's pointer is NULL", call));
    }
    if (comm->phase.load(std::memory_order_acquire) == Phase::kJoining) {
      return find_ready_comm(handle, call, comm);
    }
    *target = (*comm).*member;
    return ncclSuccess;
  });
}

}  // namespace
}  // namespace commrig::nccl

using namespace commrig::nccl;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

COMMRIG_NCCL(ncclGetVersion, int* version) {
  return enter([&] {
    if (version == nullptr) {
      return refuse(ncclInvalidArgument, "GetVersion : version argument is NULL");
    }
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
  });
}

COMMRIG_NCCL(ncclGetUniqueId, ncclUniqueId* uniqueId) {
  return enter([&]() -> ncclResult_t {
    log_version();
    if (uniqueId == nullptr) {
      return refuse(ncclInvalidArgument, "GetUniqueId : out argument is NULL");
    }
    const auto made = rig::Communicator::make_id();
    if (!made) return translate(made.error());
    std::memcpy(uniqueId->internal, made->data(), sizeof(uniqueId->internal));
    return ncclSuccess;
  });
}

COMMRIG_NCCL(ncclCommInitRankConfig, ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
             ncclConfig_t* config) {
  return join({"ncclCommInitRankConfig", comm, nranks, commId, rank, config});
}

COMMRIG_NCCL(ncclCommInitRank, ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return join({"ncclCommInitRank", comm, nranks, commId, rank, nullptr});
}

// The root of the first id is enough.
COMMRIG_NCCL(ncclCommInitRankScalable, ncclComm_t* newcomm, int nranks, int myrank, int nId,
             ncclUniqueId* commIds, ncclConfig_t* config) {
  if (commIds == nullptr || nId < 1 || nId > nranks) {
    return remember(enter([&] {
      return refuse(ncclInvalidArgument,
                    fmt::format("ncclCommInitRankScalable : {} ids for {} ranks", nId, nranks));
    }));
  }
  return join({"ncclCommInitRankScalable", newcomm, nranks, commIds[0], myrank, config});
}

COMMRIG_NCCL(ncclCommInitAll, ncclComm_t* comm, int ndev, const int* devlist) {
  return enter([&]() -> ncclResult_t {
    log_version();
    if (comm == nullptr || ndev < 1) {
      return refuse(ncclInvalidArgument,
                    fmt::format("ncclCommInitAll : invalid device count requested : {}, or comm "
                                "argument is NULL",
                                ndev));
    }
    std::vector<int> devices;
    for (int i = 0; i < ndev; ++i) devices.push_back(devlist == nullptr ? i : devlist[i]);
    COMMRIG_NCCL_TRY(check_devices(devices));
    return init_all(comm, devices);
  });
}

COMMRIG_NCCL(ncclCommFinalize, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(find_ready_comm(comm, "CommFinalize", found));
    return finalize(*found);
  });
}

COMMRIG_NCCL(ncclCommDestroy, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(take(comm, "CommDestroy", found));
    return finalize(*found);
  });
}

COMMRIG_NCCL(ncclCommAbort, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(take(comm, "CommAbort", found));
    rig::Communicator::raise(found->join_abort);
    COMMRIG_NCCL_TRY(wait_for_job(*found));
    if (found->communicator == nullptr) return ncclSuccess;
    found->communicator->abort();
    return finalize(*found);
  });
}

COMMRIG_NCCL(ncclCommSplit, ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
             ncclConfig_t* config) {
  return remember(enter([&]() -> ncclResult_t {
    CommPtr parent;
    COMMRIG_NCCL_TRY(find_ready_comm(comm, "CommSplit", parent));
    return split(parent, color, key, newcomm, config);
  }));
}

COMMRIG_NCCL(ncclCommGetAsyncError, ncclComm_t comm, ncclResult_t* asyncError) {
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(find_comm(comm, "ncclGetAsyncError", found));
    if (asyncError == nullptr) {
      return refuse(ncclInvalidArgument, "ncclGetAsyncError : asyncError argument is NULL");
    }
    *asyncError = found->joined.load(std::memory_order_acquire);
    if (*asyncError == ncclSuccess && found->communicator != nullptr) {
      *asyncError = translate(found->communicator->error());
    }
    return ncclSuccess;
  });
}

COMMRIG_NCCL(ncclCommCount, const ncclComm_t comm, int* count) {
  return tell(comm, "CommCount", count, &Comm::ranks);
}

COMMRIG_NCCL(ncclCommCuDevice, const ncclComm_t comm, int* device) {
  return tell(comm, "CommCuDevice", device, &Comm::device);
}

COMMRIG_NCCL(ncclCommUserRank, const ncclComm_t comm, int* rank) {
  return tell(comm, "CommUserRank", rank, &Comm::rank);
}
