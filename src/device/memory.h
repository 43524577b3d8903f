// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/host_memory.h"
#include "base/result.h"
#include "device/arena.h"

namespace commrig::device {

// One piece of simulated device memory. Shared between Memory and the windows that look into it, so
// that a window whose memory was freed can still say what it was.
struct Allocation {
  std::uint64_t number;  // counts from 1 in the order of allocation
  std::byte* base;
  std::size_t bytes;
  int device;
  std::source_location where;  // who allocated it; not told where its line is 0
  std::atomic<bool> live{true};
};

// "allocation #3 (4096 bytes on device 1, made at foo.cc:41)"
std::string describe(const Allocation& allocation);

// A checked range inside one live allocation, or what is left of it: `alive` must be asked before
// each use. Copyable; small.
class Window {
 public:
  Window() = default;
  Window(std::shared_ptr<const Allocation> allocation, std::byte* base, std::size_t bytes)
      : allocation_(std::move(allocation)), base_(base), bytes_(bytes) {}

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  bool alive() const {
    return allocation_ != nullptr && allocation_->live.load(std::memory_order_relaxed);
  }

  // The `count` bytes at `offset`, which must lie inside.
  Window part(std::size_t offset, std::size_t count) const {
    return Window(allocation_, base_ + offset, count);
  }

  // Whether `count` bytes at `offset` lie inside, aligned to `alignment`, and the memory is live.
  bool permits(std::size_t offset, std::size_t count, std::size_t alignment) const {
    return offset <= bytes_ && count <= bytes_ - offset &&
           (reinterpret_cast<std::uintptr_t>(base_) + offset) % alignment == 0 && alive();
  }
  // Why `permits` said no: kFreedPointer, kOutOfRange or kMisaligned, with the numbers.
  Error refusal(std::size_t offset, std::size_t count, std::size_t alignment) const;

 private:
  std::shared_ptr<const Allocation> allocation_;  // shared with Memory, see Allocation
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

struct MemoryOptions {
  int devices = 1;
  std::size_t bytes_per_device = std::size_t{64} << 30U;
  // Freed allocations are remembered, and their addresses not used again, until they are more than
  // this many bytes or this many allocations.
  std::size_t quarantine_bytes = std::size_t{1} << 30U;
  std::size_t quarantine_allocations = 4096;
};

// The memory of all simulated devices of a process. Every pointer handed in from outside is
// resolved here: a bad, freed, overrunning or misaligned one is an error that says so. Thread-safe.
class Memory {
 public:
  explicit Memory(const MemoryOptions& options);
  ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // `bytes` of memory on `device`, aligned to 512 bytes (4096 from 64 KiB up, 2 MiB
  // from there up). Takes pages only when they are touched, so a large one that is used in part
  // costs that part. Fails with
  // kBadDevice, kZeroSize, kOutOfMemory or kSystemCall. The contents are undefined.
  Result<void*> allocate(int device, std::size_t bytes,
                         std::source_location where = std::source_location::current());

  // Ends the allocation that starts at `pointer`. Its pages go back to the system at once, its
  // addresses stay in quarantine. Fails with kUnknownPointer, kNotAllocationStart or kFreedTwice.
  Status release(void* pointer);

  // Makes every byte of the allocation that starts at `pointer` zero, by giving its pages back
  // where it has whole ones. Fails as release does. Not while others use it.
  Status clear(void* pointer);

  // Takes all pages of the window now, as huge ones where the kernel allows it, so that no later
  // access waits for one. What the system can't do is left to the first touch.
  static void prefault(const Window& window);

  // The window of `bytes` at `pointer`, which must lie inside one live allocation and be aligned to
  // `alignment` bytes. Fails with kUnknownPointer, kFreedPointer, kOutOfRange, kMisaligned or, for
  // no bytes, kZeroSize.
  Result<Window> resolve(const void* pointer, std::size_t bytes, std::size_t alignment = 1) const;

  // Whether the address belongs to simulated device memory, live or not.
  bool is_device_address(const void* pointer) const;

  // Moves on whenever an allocation begins or ends: what resolve() and is_device_address() have
  // said holds as long as it stays the same. Costs one load.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // The segments that this memory lies in, from number `first` on, so that other processes can map
  // them. `segment_count` costs one load, to see whether there are new ones.
  std::vector<ArenaSegment> segments_from(std::size_t first) const;
  std::size_t segment_count() const { return segment_count_.load(std::memory_order_acquire); }

  int devices() const { return options_.devices; }
  std::size_t used_bytes(int device) const;

 private:
  using AllocationPtr = std::shared_ptr<Allocation>;  // shared with windows, see Allocation
  struct State {
    Arena arena;
    std::map<const std::byte*, AllocationPtr> by_base;  // live and quarantined
    std::deque<AllocationPtr> quarantine;               // oldest first
    std::size_t quarantined_bytes = 0;
    std::vector<std::size_t> used;  // live bytes per device
    std::uint64_t allocations = 0;
  };
  static Result<AllocationPtr> find_start(const State& state, const void* pointer,
                                          const char* purpose);
  static AllocationPtr find(const State& state, const std::byte* address);
  static void evict_oldest(State& state);

  MemoryOptions options_;
  std::atomic<std::size_t> segment_count_{0};
  std::atomic<std::uint64_t> generation_{1};
  Guarded<std::unique_ptr<State>> state_;
};

// Whether so many bytes at the pointer may be read (or written), in device or host memory: the
// errors of Memory::resolve for the one, kHostRange for the other. No bytes are always fine.
Status check_range(const Memory& memory, const void* pointer, std::size_t bytes, HostAccess access);

}  // namespace commrig::device
