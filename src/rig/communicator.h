// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/abort.h"
#include "base/result.h"
#include "bootstrap/unique_id.h"
#include "comm/call.h"
#include "comm/communicator.h"
#include "rig/export.h"
#include "rig/scale.h"
#include "rig/stream.h"

namespace commrig::rig {

// A message of a group, with the stream that it was called on.
struct StreamMessage {
  void* stream = nullptr;
  comm::Message message;
};

struct JoinOptions {
  const AbortFlag* abort = nullptr;  // ends the set-up
  // Whether the device may be that of other ranks, too. All processes of a host have the same
  // devices, but for those that have fewer than the host has ranks, or CUDA_VISIBLE_DEVICES of
  // their own.
  bool shares_device = true;
};

// One rank's membership, on a device, with streams by handle. The calls of one communicator come
// from one thread at a time; abort() and error() may come from any. Handles of default streams mean
// those of the communicator's device.
class COMMRIG_RIG Communicator {
 public:
  using Ptr = std::shared_ptr<Communicator>;  // shared by the face's table and its calls

  // All ranks of this process; rank r is on devices[r]. kBadDevice, kRankCount, kSystemCall.
  static Result<std::vector<Ptr>> create_all(std::span<const int> devices);

  // An id for one communicator, whose root listens in this process. As comm::Lobby::make_id. Where
  // NCCL_COMM_ID is set, the id that follows from it, whose root rank 0 opens; kBadAddress.
  static Result<bootstrap::UniqueId::Bytes> make_id();

  // One rank of a communicator whose ranks are threads, processes, or both; returns when all have
  // called it, or with an error when `abort` is raised. As comm::Lobby::join; kBadUniqueId for
  // bytes that no root has made, kSameDevice as the options say.
  static Result<Ptr> join(const bootstrap::UniqueId::Bytes& id, int rank, int ranks, int device,
                          const JoinOptions& options = {});
  static void raise(AbortFlag& abort);

  Communicator(std::unique_ptr<comm::Communicator> made, int device)
      : communicator_(std::move(made)), device_(device) {}
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const;
  int ranks() const;
  int device() const { return device_; }

  // Puts the call on the stream, as comm::Communicator::enqueue. With a scale, its op is kSum.
  Status enqueue(void* stream, comm::Call call, const Scale& scale = {});

  // Messages that are under way together. They stand on all their streams.
  Status enqueue(std::span<const StreamMessage> messages);

  // As comm::Communicator::split; null for a negative color.
  Result<Ptr> split(int color, int key);

  // Waits until its operations have ended, and leaves. Later calls fail.
  Status finalize();

  Status error() const;
  void abort();

 private:
  // The last work that it has put on a stream.
  struct Issued {
    std::shared_ptr<device::Stream> stream;  // shared, see rig::Stream
    std::uint64_t count = 0;
  };
  Status enqueue_scaled(const std::shared_ptr<device::Stream>& stream, comm::Call call,
                        const Scale& scale);
  void note(const std::shared_ptr<device::Stream>& stream);

  std::unique_ptr<comm::Communicator> communicator_;
  const int device_;
  std::map<const device::Stream*, Issued> issued_;
};

}  // namespace commrig::rig
