// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/shm_link.h"

#include <fmt/format.h>

#include "transport/ring_link.h"

namespace commrig::transport {
namespace {

// Enough to keep both processes copying when long messages pass through it, and small beside a
// core's second cache.
constexpr std::size_t kRingBytes = 64 * 1024;

}  // namespace

Result<Segment> make_shm_segment() {
  COMMRIG_ASSIGN(Segment segment,
                 Segment::create("commrig-link", LinkMemory::bytes_for(kRingBytes)));
  LinkMemory::make(segment.memory(), kRingBytes);
  return segment;
}

Result<std::unique_ptr<Link>> make_shm_link(Segment segment, const ShmLinkOptions& options) {
  COMMRIG_ASSIGN(LinkMemory * memory, LinkMemory::find(segment.memory()));
  // The link is the only owner of the mapping.
  auto owner = std::make_shared<Segment>(std::move(segment));
  Ends ends = options.ends;
  ends.peer_place = fmt::format("process {} of this host", options.peer.process());
  std::unique_ptr<Link> link = std::make_unique<RingLink>(
      RingLinkOptions{.kind = "shm",
                      .ends = std::move(ends),
                      .memory = std::shared_ptr<LinkMemory>(std::move(owner), memory),
                      .side = options.side,
                      .access = options.peer,
                      .waker = options.waker,
                      .peer_waker = options.peer.waker()});
  return link;
}

}  // namespace commrig::transport
