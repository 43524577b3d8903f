// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <limits>

#include <fmt/format.h>

#include "api/objects.h"
#include "api/translate.h"
#include "commrig/communicator.h"

namespace commrig::v0 {
namespace {

using coll::Collective;
using comm::Call;
using Counts = std::vector<std::size_t>;

// The call with its type, or why the number given is none.
commrig::Result<Call> typed(Call call, Dtype dtype) {
  COMMRIG_ASSIGN(call.dtype, translate(dtype));
  return call;
}

commrig::Result<Call> typed(Call call, Dtype dtype, ReduceOp op) {
  COMMRIG_ASSIGN(call.dtype, translate(dtype));
  COMMRIG_ASSIGN(call.op, translate(op));
  return call;
}

commrig::Result<comm::Message> message(bool outgoing, int peer, void* data, std::size_t count,
                                       Dtype dtype) {
  COMMRIG_ASSIGN(const dtype::Dtype type, translate(dtype));
  const std::size_t bytes = dtype::size_of(type);
  if (count > std::numeric_limits<std::size_t>::max() / bytes) {
    return commrig::Error::make(Code::kCollectiveSize,
                                fmt::format("a message of {} elements of {} bytes", count, bytes));
  }
  return comm::Message{.outgoing = outgoing,
                       .peer = peer,
                       .data = data,
                       .bytes = count * bytes,
                       .elements = transport::elements_of(type)};
}

}  // namespace

// Each makes a call of its arguments; what all have in common is in Internals::submit.

Status Communicator::all_reduce(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                                ReduceOp op) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kAllReduce,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .site = __builtin_return_address(0)},
                                      dtype, op));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::reduce(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                            ReduceOp op, int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kReduce,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .root = root,
                                       .site = __builtin_return_address(0)},
                                      dtype, op));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::broadcast(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                               int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kBroadcast,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .root = root,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::all_gather(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kAllGather,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::reduce_scatter(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                                    ReduceOp op) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kReduceScatter,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .site = __builtin_return_address(0)},
                                      dtype, op));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::all_to_all(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kAllToAll,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::gather(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                            int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kGather,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .root = root,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::scatter(StreamRef on, Buffers buffers, std::size_t count, Dtype dtype,
                             int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kScatter,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .count = count,
                                       .root = root,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::all_gather_v(StreamRef on, Buffers buffers, const Counts& counts,
                                  Dtype dtype) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kAllGatherV,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .counts = counts,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::reduce_scatter_v(StreamRef on, Buffers buffers, const Counts& counts,
                                      Dtype dtype, ReduceOp op) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kReduceScatterV,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .counts = counts,
                                       .site = __builtin_return_address(0)},
                                      dtype, op));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::gather_v(StreamRef on, Buffers buffers, const Counts& counts, Dtype dtype,
                              int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kGatherV,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .root = root,
                                       .counts = counts,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::scatter_v(StreamRef on, Buffers buffers, const Counts& counts, Dtype dtype,
                               int root) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kScatterV,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .root = root,
                                       .counts = counts,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::all_to_all_v(StreamRef on, Buffers buffers, const Counts& counts,
                                  Dtype dtype) {
  COMMRIG_API_ASSIGN(Call call, typed({.collective = Collective::kAllToAllV,
                                       .input = buffers.input,
                                       .output = buffers.output,
                                       .counts = counts,
                                       .site = __builtin_return_address(0)},
                                      dtype));
  return Internals::submit(state_, on, std::move(call));
}

Status Communicator::send(StreamRef on, const void* data, std::size_t count, Dtype dtype,
                          int peer) {
  // Of an outgoing message, data is never written.
  COMMRIG_API_ASSIGN(const comm::Message one,
                     message(true, peer, const_cast<void*>(data), count, dtype));
  return Internals::submit(state_, on, one);
}

Status Communicator::recv(StreamRef on, void* data, std::size_t count, Dtype dtype, int peer) {
  COMMRIG_API_ASSIGN(const comm::Message one, message(false, peer, data, count, dtype));
  return Internals::submit(state_, on, one);
}

}  // namespace commrig::v0
