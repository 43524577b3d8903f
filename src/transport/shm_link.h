// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "transport/link.h"
#include "transport/peer_memory.h"
#include "transport/segment.h"

namespace commrig::transport {

// A link between ranks of two processes of a host. Messages of up to 4 KiB pass through a ring in
// shared memory and are copied twice. Larger ones are copied once by the receiver, from device
// memory that it has mapped or else by process_vm_readv; where neither is possible they pass
// through the ring in pieces.
//
// One of the two processes makes the segment and hands it over:
//
//   auto segment = make_shm_segment();                       // the lower rank's process
//   peer_memory.give({communicator, pair}, *segment);
//   auto link = make_shm_link(std::move(*segment), {.ends = {0, 1}, .side = 0, ...});
//
//   auto segment = peer_memory.take({communicator, pair});   // the other one, until it is there
//   auto link = make_shm_link(std::move(**segment), {.ends = {1, 0}, .side = 1, ...});
Result<Segment> make_shm_segment();

struct ShmLinkOptions {
  Ends ends{};       // without the place, which is added
  int side = 0;      // 0 for the process that made the segment, 1 for the other
  PeerMemory& peer;  // has met the peer; must outlive the link, and so must
  Waker& waker;      // the waker, which is ours
};
Result<std::unique_ptr<Link>> make_shm_link(Segment segment, const ShmLinkOptions& options);

}  // namespace commrig::transport
