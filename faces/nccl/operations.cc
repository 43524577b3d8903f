// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/host_memory.h"
#include "faces/nccl/group.h"
#include "faces/nccl/log.h"
#include "faces/nccl/translate.h"

namespace commrig::nccl {
namespace {

using coll::Collective;
using dtype::Dtype;

// By the vendor's number.
constexpr std::array kTypes{
    Dtype::kInt8, Dtype::kUint8, Dtype::kInt32, Dtype::kUint32, Dtype::kInt64,     Dtype::kUint64,
    Dtype::kFp16, Dtype::kFp32,  Dtype::kFp64,  Dtype::kBf16,   Dtype::kFp8E4m3fn, Dtype::kFp8E5m2,
};
static_assert(kTypes.size() == ncclNumTypes);
constexpr std::array kOps{dtype::ReduceOp::kSum, dtype::ReduceOp::kProd, dtype::ReduceOp::kMax,
                          dtype::ReduceOp::kMin};

// A call as the program has made it. What it doesn't have keeps its value here.
struct Request {
  const char* call;
  Collective collective;
  const void* send;
  void* recv;
  std::size_t count;
  ncclDataType_t datatype;
  ncclComm_t comm;
  cudaStream_t stream;
  ncclRedOp_t op = ncclSum;
  int root = 0;
  const void* site = nullptr;
};

ncclResult_t check_type(const char* call, ncclDataType_t datatype) {
  if (static_cast<unsigned>(datatype) < kTypes.size()) return ncclSuccess;
  return refuse(ncclInvalidArgument, fmt::format("{} : invalid type {}; expected 0 to {}", call,
                                                 static_cast<int>(datatype), ncclNumTypes - 1));
}

ncclResult_t check_rank(const char* call, const char* what, int rank, const Comm& comm) {
  if (rank >= 0 && rank < comm.ranks) return ncclSuccess;
  return refuse(ncclInvalidArgument, fmt::format("{} : invalid {} {} ({} should be in the 0..{} "
                                                 "range)",
                                                 call, what, rank, what, comm.ranks - 1));
}

ncclResult_t read_op(const Request& request, const Comm& comm, CollectiveOp& target) {
  if (static_cast<unsigned>(request.op) < kOps.size()) {
    target.call.op = kOps[static_cast<std::size_t>(request.op)];
    return ncclSuccess;
  }
  if (request.op == ncclAvg) {
    target.scale.scaling = rig::Scaling::kAverage;
    return ncclSuccess;
  }
  const auto ops = comm.user_ops.lock();
  const auto place = ops->find(static_cast<int>(request.op));
  if (place == ops->end()) {
    return refuse(ncclInvalidArgument,
                  fmt::format("{} : reduction operation {} is unknown to this communicator: it was "
                              "destroyed, or made for another one",
                              request.call, static_cast<int>(request.op)));
  }
  if (place->second.datatype != request.datatype) {
    return refuse(
        ncclInvalidArgument,
        fmt::format("{} : reduction operation {} was made for type {}, not {}", request.call,
                    static_cast<int>(request.op), static_cast<int>(place->second.datatype),
                    static_cast<int>(request.datatype)));
  }
  target.scale = place->second.scale;
  return ncclSuccess;
}

void log_call(const Request& request, Comm& comm) {
  const std::uint64_t number = comm.operations.fetch_add(1);
  if (!wants_info(kColl)) return;
  info(kColl, fmt::format("{}: opCount {:x} sendbuff {} recvbuff {} count {} datatype {} op {} "
                          "root {} comm {} [nranks={}] stream {}",
                          request.call, number, request.send, request.recv, request.count,
                          static_cast<int>(request.datatype), static_cast<int>(request.op),
                          request.root, static_cast<const void*>(request.comm), comm.ranks,
                          static_cast<const void*>(request.stream)));
}

ncclResult_t submit_checked(const Request& request) {
  CommPtr comm;
  COMMRIG_NCCL_TRY(find_ready_comm(request.comm, request.call, comm));
  if (coll::has_root(request.collective)) {
    COMMRIG_NCCL_TRY(check_rank(request.call, "root", request.root, *comm));
  }
  COMMRIG_NCCL_TRY(check_type(request.call, request.datatype));
  CollectiveOp made{.call = {.collective = request.collective,
                             .input = request.send,
                             .output = request.recv,
                             .count = request.count,
                             .dtype = kTypes[static_cast<std::size_t>(request.datatype)],
                             .root = request.root,
                             .site = request.site},
                    .scale = {}};
  COMMRIG_NCCL_TRY(read_op(request, *comm, made));
  log_call(request, *comm);
  if (request.count == 0) return ncclSuccess;
  return submit(Operation{comm, request.stream, std::move(made)});
}

ncclResult_t collective(const Request& request) {
  return remember(enter([&] { return submit_checked(request); }));
}

struct MessageRequest {
  const char* call;
  bool outgoing;
  void* data;
  std::size_t count;
  ncclDataType_t datatype;
  int peer;
  ncclComm_t comm;
  cudaStream_t stream;
};

ncclResult_t submit_message(const MessageRequest& request) {
  CommPtr comm;
  COMMRIG_NCCL_TRY(find_ready_comm(request.comm, request.call, comm));
  COMMRIG_NCCL_TRY(check_rank(request.call, "peer", request.peer, *comm));
  COMMRIG_NCCL_TRY(check_type(request.call, request.datatype));
  std::size_t bytes = 0;
  const Dtype type = kTypes[static_cast<std::size_t>(request.datatype)];
  if (__builtin_mul_overflow(request.count, dtype::size_of(type), &bytes)) {
    return refuse(ncclInvalidArgument, fmt::format("{} : count {} is more than memory has",
                                                   request.call, request.count));
  }
  log_call({request.call, Collective::kAllToAll, request.data, request.data, request.count,
            request.datatype, request.comm, request.stream, ncclSum, request.peer},
           *comm);
  if (bytes == 0) return ncclSuccess;
  return submit(Operation{comm, request.stream,
                          comm::Message{.outgoing = request.outgoing,
                                        .peer = request.peer,
                                        .data = request.data,
                                        .bytes = bytes,
                                        .elements = transport::elements_of(type)}});
}

ncclResult_t message(const MessageRequest& request) {
  return remember(enter([&] { return submit_message(request); }));
}

ncclResult_t create_user_op(ncclRedOp_t* op, const void* scalar, ncclDataType_t datatype,
                            ncclScalarResidence_t residence, ncclComm_t handle) {
  CommPtr comm;
  COMMRIG_NCCL_TRY(find_ready_comm(handle, "ncclRedOpCreatePreMulSum", comm));
  COMMRIG_NCCL_TRY(check_type("ncclRedOpCreatePreMulSum", datatype));
  const bool known = residence == ncclScalarDevice || residence == ncclScalarHostImmediate;
  if (op == nullptr || scalar == nullptr || !known) {
    return refuse(ncclInvalidArgument,
                  fmt::format("ncclRedOpCreatePreMulSum : {}",
                              op == nullptr       ? "op argument is NULL"
                              : scalar == nullptr ? "scalar argument is NULL"
                                                  : "residence is neither device nor host"));
  }
  UserOp made{datatype, {.scaling = rig::Scaling::kMultiply}};
  if (residence == ncclScalarDevice) {
    made.scale.scalar_at = scalar;
  } else {
    const std::size_t bytes = dtype::size_of(kTypes[static_cast<std::size_t>(datatype)]);
    if (Status status = check_host_memory(scalar, bytes, HostAccess::kRead); !status) {
      return translate(status.error());
    }
    std::memcpy(made.scale.scalar.data(), scalar, bytes);
  }
  *op = next_user_op();
  comm->user_ops.lock()->emplace(static_cast<int>(*op), made);
  return ncclSuccess;
}

}  // namespace
}  // namespace commrig::nccl

using namespace commrig::nccl;  // NOLINT(google-build-using-namespace): the interface is C
using commrig::coll::Collective;

COMMRIG_NCCL(ncclRedOpCreatePreMulSum, ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
             ncclScalarResidence_t residence, ncclComm_t comm) {
  return enter([&] { return create_user_op(op, scalar, datatype, residence, comm); });
}

COMMRIG_NCCL(ncclRedOpDestroy, ncclRedOp_t op, ncclComm_t comm) {
  return enter([&]() -> ncclResult_t {
    if (op >= ncclSum && op < ncclNumOps) {
      return refuse(ncclInvalidArgument,
                    "ncclRedOpDestroy : operation is a NCCL builtin, and stays");
    }
    CommPtr found;
    COMMRIG_NCCL_TRY(find_comm(comm, "ncclRedOpDestroy", found));
    if (found->user_ops.lock()->erase(static_cast<int>(op)) == 1) return ncclSuccess;
    return refuse(ncclInvalidArgument,
                  fmt::format("ncclRedOpDestroy : operation {} is unknown to this communicator",
                              static_cast<int>(op)));
  });
}

COMMRIG_NCCL(ncclReduce, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
             cudaStream_t stream) {
  return collective({"Reduce", Collective::kReduce, sendbuff, recvbuff, count, datatype, comm,
                     stream, op, root, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclBroadcast, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective({"Broadcast", Collective::kBroadcast, sendbuff, recvbuff, count, datatype, comm,
                     stream, ncclSum, root, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclBcast, void* buff, size_t count, ncclDataType_t datatype, int root,
             ncclComm_t comm, cudaStream_t stream) {
  return collective({"Broadcast", Collective::kBroadcast, buff, buff, count, datatype, comm, stream,
                     ncclSum, root, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclAllReduce, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return collective({"AllReduce", Collective::kAllReduce, sendbuff, recvbuff, count, datatype, comm,
                     stream, op, 0, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclReduceScatter, const void* sendbuff, void* recvbuff, size_t recvcount,
             ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return collective({"ReduceScatter", Collective::kReduceScatter, sendbuff, recvbuff, recvcount,
                     datatype, comm, stream, op, 0, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclAllGather, const void* sendbuff, void* recvbuff, size_t sendcount,
             ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return collective({"AllGather", Collective::kAllGather, sendbuff, recvbuff, sendcount, datatype,
                     comm, stream, ncclSum, 0, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclAlltoAll, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return collective({"AlltoAll", Collective::kAllToAll, sendbuff, recvbuff, count, datatype, comm,
                     stream, ncclSum, 0, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclGather, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective({"Gather", Collective::kGather, sendbuff, recvbuff, count, datatype, comm,
                     stream, ncclSum, root, __builtin_return_address(0)});
}

COMMRIG_NCCL(ncclScatter, const void* sendbuff, void* recvbuff, size_t count,
             ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective({"Scatter", Collective::kScatter, sendbuff, recvbuff, count, datatype, comm,
                     stream, ncclSum, root, __builtin_return_address(0)});
}

// Of an outgoing message, the data is never written.
COMMRIG_NCCL(ncclSend, const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
             ncclComm_t comm, cudaStream_t stream) {
  return message({"Send", true, const_cast<void*>(sendbuff), count, datatype, peer, comm, stream});
}

COMMRIG_NCCL(ncclRecv, void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
             ncclComm_t comm, cudaStream_t stream) {
  return message({"Recv", false, recvbuff, count, datatype, peer, comm, stream});
}
