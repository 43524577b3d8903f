// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "transport/link.h"

namespace commrig::transport {

// How far an offered message is: one that stays in the sender's memory until the receiver has
// copied it.
enum class Offer : std::uint32_t { kNone, kOffered, kTaking, kTaken, kWithdrawn };

// The words of one direction of a link. Positions count bytes from the start of the link and never
// wrap; the ring holds the bytes from head to tail. Words of one writer share a cache line.
struct Lane {
  // Written by the sender, `receiver_waits` by both.
  alignas(64) std::atomic<std::uint64_t> tail{0};
  std::atomic<std::uint32_t> receiver_waits{0};
  // Written by the receiver, `sender_waits` by both.
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::atomic<std::uint32_t> sender_waits{0};
  // How the receiver can read the sender's memory, a set of Ways; 0 until it is there.
  std::atomic<std::uint32_t> ways{0};
  alignas(64) std::atomic<Offer> offer{Offer::kNone};
  // Set by the receiver with the shapes before it.
  std::atomic<std::uint32_t> refused{0};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> expected{0};
};

// What the two ends of a link share: in memory of one process, or in a segment that two map. The
// bytes of the two rings follow.
struct LinkMemory {
  static constexpr std::uint64_t kMagic = 0x326B6E6C67697263U;  // "crigLnk2" and so its version

  std::atomic<std::uint64_t> magic{0};
  std::uint64_t ring_bytes = 0;
  std::atomic<std::uint32_t> aborted{0};
  std::atomic<std::uint32_t> closed[2]{};  // by side
  Lane lanes[2];                           // lane i is written by side i

  std::span<std::byte> ring(int lane) {
    auto* const rings = reinterpret_cast<std::byte*>(this) + sizeof(LinkMemory);
    return {rings + static_cast<std::size_t>(lane) * ring_bytes, ring_bytes};
  }

  static std::size_t bytes_for(std::size_t ring_bytes) {
    return sizeof(LinkMemory) + 2 * ring_bytes;
  }
  // Makes a link of zeroed memory, which must have bytes_for(ring_bytes).
  static LinkMemory* make(std::span<std::byte> memory, std::size_t ring_bytes);
  // The link that somebody else has made there; kBadFrame when there is none.
  static Result<LinkMemory*> find(std::span<std::byte> memory);
};

// What stands before each message in a ring.
struct RingHeader {
  static constexpr std::uint32_t kInline = 0x4E494C4DU;   // the bytes follow
  static constexpr std::uint32_t kOffered = 0x52464F4DU;  // they lie at `address` of the sender

  std::uint32_t kind = kInline;
  std::uint32_t sequence = 0;  // counts messages from 0
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t elements = kUntyped;
};

}  // namespace commrig::transport
