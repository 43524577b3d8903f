// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/thread_link.h"

#include <cstring>

#include "transport/ring_link.h"

namespace commrig::transport {
namespace {

constexpr std::size_t kRingBytes = 16 * 1024;

// All memory of the process is there.
class OwnMemory final : public MemoryAccess {
 public:
  std::uint32_t ways() const override { return kReadsArena | kReadsHost; }
  bool offers(const std::byte* /*data*/, std::size_t /*bytes*/, std::uint32_t ways) override {
    return ways != 0;
  }
  Status read(std::uint64_t address, std::span<std::byte> target) override {
    const auto* const source = reinterpret_cast<const std::byte*>(address);
    // A rank that sends a buffer to itself may receive it in place.
    if (source != target.data()) std::memmove(target.data(), source, target.size());
    return ok();
  }
};

// Both ends' memory, in one allocation whose owners they are.
struct Block {
  OwnMemory access;
  std::unique_ptr<std::byte[]> bytes;
  LinkMemory* memory = nullptr;
};

std::shared_ptr<Block> make_block() {
  const std::size_t bytes = LinkMemory::bytes_for(kRingBytes);
  constexpr std::size_t kAlignment = alignof(LinkMemory);
  auto block = std::make_shared<Block>();
  block->bytes = std::make_unique<std::byte[]>(bytes + kAlignment);
  void* start = block->bytes.get();
  std::size_t space = bytes + kAlignment;
  std::align(kAlignment, bytes, start, space);
  block->memory = LinkMemory::make({static_cast<std::byte*>(start), bytes}, kRingBytes);
  return block;
}

std::unique_ptr<Link> make_end(const std::shared_ptr<Block>& block, int side, bool loops,
                               const RankEnd& own, const RankEnd& peer) {
  return std::make_unique<RingLink>(RingLinkOptions{
      .kind = loops ? "self" : "thread",
      .ends = {.rank = own.rank, .peer = peer.rank, .peer_place = loops ? "itself" : "thread"},
      .memory = std::shared_ptr<LinkMemory>(block, block->memory),
      .side = side,
      .loops = loops,
      .peer_reads_in_place = true,
      .access = block->access,
      .waker = own.waker,
      .peer_waker = peer.waker,
      .eager_bytes = kEagerBytes});
}

}  // namespace

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_thread_link(const RankEnd& a,
                                                                         const RankEnd& b) {
  const auto block = make_block();
  return {make_end(block, 0, false, a, b), make_end(block, 1, false, b, a)};
}

std::unique_ptr<Link> make_self_link(const RankEnd& rank) {
  return make_end(make_block(), 0, true, rank, rank);
}

}  // namespace commrig::transport
