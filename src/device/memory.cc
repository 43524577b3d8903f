// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

namespace commrig::device {
namespace {

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kPageAlignedFrom = 64 * 1024;
constexpr int kFreedByte = 0xDF;  // what a late read of freed memory sees

// Advice of newer Linux kernels (5.14 and 6.1), which older headers do not name.
constexpr int kPopulateWrite = 23;
constexpr int kCollapse = 25;

// Space between neighbours, so that an overrun by an element does not hit another buffer.
constexpr std::size_t kGap = 512;

std::size_t alignment_for(std::size_t bytes) {
  if (bytes >= Arena::kHugePage) return Arena::kHugePage;
  return bytes >= kPageAlignedFrom ? Arena::kPage : kAlignment;
}

// What an allocation takes from the arena.
std::size_t footprint(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment + kGap;
}

std::string text_of(const void* pointer) {
  return fmt::format("{}", pointer);
}

// Where an address outside of every allocation lies, when it is close behind one.
std::string neighbour(const Allocation* before, const std::byte* address) {
  constexpr std::ptrdiff_t kClose = 1 << 20;
  if (before == nullptr) return "";
  const std::ptrdiff_t distance = address - (before->base + before->bytes);
  if (distance > kClose) return "";
  return fmt::format(", {} bytes behind the end of {}", distance, describe(*before));
}

}  // namespace

std::string describe(const Allocation& allocation) {
  std::string made;
  if (allocation.where.line() != 0) {
    made = fmt::format(", made at {}:{}",
                       std::filesystem::path(allocation.where.file_name()).filename().string(),
                       allocation.where.line());
  }
  return fmt::format("allocation #{} ({} bytes on device {}{})", allocation.number,
                     allocation.bytes, allocation.device, made);
}

Error Window::refusal(std::size_t offset, std::size_t count, std::size_t alignment) const {
  if (allocation_ == nullptr) {
    return Error::make(Code::kUnknownPointer, "an empty window was used");
  }
  const auto start = static_cast<std::size_t>(base_ - allocation_->base) + offset;
  const std::string access =
      fmt::format("{} bytes at offset {} of {}", count, start, describe(*allocation_));
  if (!alive()) return Error::make(Code::kFreedPointer, access + ", which was freed");
  if (offset > bytes_ || count > bytes_ - offset) {
    return Error::make(Code::kOutOfRange,
                       fmt::format("{}; the window there is {} bytes from offset {}", access,
                                   bytes_, base_ - allocation_->base));
  }
  return Error::make(Code::kMisaligned, fmt::format("{} are not aligned to {}", access, alignment));
}

Memory::Memory(const MemoryOptions& options)
    : options_(options), state_(std::make_unique<State>()) {
  const auto state = state_.lock();
  (*state)->used.assign(static_cast<std::size_t>(options.devices), 0);
}

Result<void*> Memory::allocate(int device, std::size_t bytes, std::source_location where) {
  if (device < 0 || device >= options_.devices) {
    return Error::make(Code::kBadDevice,
                       fmt::format("device {} of {} devices", device, options_.devices));
  }
  if (bytes == 0) return Error::make(Code::kZeroSize, "0 bytes were asked for");
  const auto locked = state_.lock();
  State& state = **locked;
  std::size_t& used = state.used[static_cast<std::size_t>(device)];
  if (bytes > options_.bytes_per_device - used) {
    return Error::make(
        Code::kOutOfMemory,
        fmt::format("device {}: {} bytes asked for, {} of {} are free", device, bytes,
                    options_.bytes_per_device - used, options_.bytes_per_device));
  }
  COMMRIG_ASSIGN(std::byte * base, state.arena.take(footprint(bytes), alignment_for(bytes)));
  segment_count_.store(state.arena.segment_count(), std::memory_order_release);
  auto allocation = std::make_shared<Allocation>();
  allocation->number = ++state.allocations;
  allocation->base = base;
  allocation->bytes = bytes;
  allocation->device = device;
  allocation->where = where;
  state.by_base.emplace(base, std::move(allocation));
  used += bytes;
  generation_.fetch_add(1, std::memory_order_release);
  return static_cast<void*>(base);
}

// The live allocation that starts at `pointer`.
Result<Memory::AllocationPtr> Memory::find_start(const State& state, const void* pointer,
                                                 const char* purpose) {
  auto* const address = static_cast<const std::byte*>(pointer);
  AllocationPtr allocation = find(state, address);
  if (allocation == nullptr) {
    return Error::make(Code::kUnknownPointer,
                       fmt::format("{} was passed to {}", text_of(pointer), purpose));
  }
  if (allocation->base != address) {
    return Error::make(Code::kNotAllocationStart,
                       fmt::format("{} is {} bytes into {}", text_of(pointer),
                                   address - allocation->base, describe(*allocation)));
  }
  if (!allocation->live) {
    return Error::make(Code::kFreedTwice,
                       fmt::format("{} is {}", text_of(pointer), describe(*allocation)));
  }
  return allocation;
}

Status Memory::clear(void* pointer) {
  const auto locked = state_.lock();
  COMMRIG_ASSIGN(const AllocationPtr allocation, find_start(**locked, pointer, "clear"));
  std::byte* const base = allocation->base;
  const std::size_t whole = allocation->bytes / Arena::kPage * Arena::kPage;
  const bool given_back =
      allocation->bytes >= kPageAlignedFrom && (*locked)->arena.discard(base, whole);
  const std::size_t done = given_back ? whole : 0;
  std::memset(base + done, 0, allocation->bytes - done);
  return ok();
}

void Memory::prefault(const Window& window) {
  const auto start = reinterpret_cast<std::uintptr_t>(window.base()) / Arena::kPage * Arena::kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(window.base()) + window.bytes();
  auto* const base = reinterpret_cast<std::byte*>(start);
  ::madvise(base, end - start, kPopulateWrite);
  const std::uintptr_t huge = (start + Arena::kHugePage - 1) / Arena::kHugePage * Arena::kHugePage;
  const std::uintptr_t huge_end = end / Arena::kHugePage * Arena::kHugePage;
  if (huge >= huge_end) return;
  auto* const whole = reinterpret_cast<std::byte*>(huge);
  // The first makes huge pages of the file's, the second maps them.
  ::madvise(whole, huge_end - huge, kCollapse);
  ::madvise(whole, huge_end - huge, kPopulateWrite);
}

Status Memory::release(void* pointer) {
  const auto locked = state_.lock();
  State& state = **locked;
  COMMRIG_ASSIGN(const AllocationPtr allocation, find_start(state, pointer, "free"));
  allocation->live = false;
  generation_.fetch_add(1, std::memory_order_release);
  state.used[static_cast<std::size_t>(allocation->device)] -= allocation->bytes;
  if (allocation->bytes < kPageAlignedFrom) {
    std::memset(allocation->base, kFreedByte, allocation->bytes);
  } else {
    // When the system refuses, the pages stay; nobody's data depend on it.
    (void)state.arena.discard(allocation->base, allocation->bytes);
  }
  state.quarantine.push_back(allocation);
  state.quarantined_bytes += allocation->bytes;
  while (state.quarantined_bytes > options_.quarantine_bytes ||
         state.quarantine.size() > options_.quarantine_allocations) {
    evict_oldest(state);
  }
  return ok();
}

void Memory::evict_oldest(State& state) {
  const AllocationPtr oldest = state.quarantine.front();
  state.quarantine.pop_front();
  state.quarantined_bytes -= oldest->bytes;
  state.by_base.erase(oldest->base);
  state.arena.give_back(oldest->base, footprint(oldest->bytes));
}

Memory::AllocationPtr Memory::find(const State& state, const std::byte* address) {
  auto next = state.by_base.upper_bound(address);
  if (next == state.by_base.begin()) return nullptr;
  const AllocationPtr& candidate = std::prev(next)->second;
  return address < candidate->base + candidate->bytes ? candidate : nullptr;
}

Result<Window> Memory::resolve(const void* pointer, std::size_t bytes,
                               std::size_t alignment) const {
  // The map is asked by address; nothing is written through this pointer.
  auto* const address = static_cast<std::byte*>(const_cast<void*>(pointer));
  if (bytes == 0) {
    return Error::make(Code::kZeroSize, fmt::format("a range of 0 bytes at {}", text_of(pointer)));
  }
  const auto locked = state_.lock();
  const AllocationPtr allocation = find(**locked, address);
  if (allocation == nullptr) {
    const auto next = (*locked)->by_base.upper_bound(address);
    const Allocation* before =
        next == (*locked)->by_base.begin() ? nullptr : std::prev(next)->second.get();
    return Error::make(
        Code::kUnknownPointer,
        fmt::format("{} bytes at {}{}", bytes, text_of(pointer), neighbour(before, address)));
  }
  const Window whole(allocation, allocation->base, allocation->bytes);
  const auto offset = static_cast<std::size_t>(address - allocation->base);
  if (!whole.permits(offset, bytes, alignment)) return whole.refusal(offset, bytes, alignment);
  return Window(allocation, address, bytes);
}

bool Memory::is_device_address(const void* pointer) const {
  const auto locked = state_.lock();
  return (*locked)->arena.owns(static_cast<const std::byte*>(pointer));
}

std::vector<ArenaSegment> Memory::segments_from(std::size_t first) const {
  const auto locked = state_.lock();
  return (*locked)->arena.segments_from(first);
}

std::size_t Memory::used_bytes(int device) const {
  const auto locked = state_.lock();
  return (*locked)->used.at(static_cast<std::size_t>(device));
}

Status check_range(const Memory& memory, const void* pointer, std::size_t bytes,
                   HostAccess access) {
  if (bytes == 0) return ok();
  if (!memory.is_device_address(pointer)) return check_host_memory(pointer, bytes, access);
  COMMRIG_TRY(memory.resolve(pointer, bytes));
  return ok();
}

}  // namespace commrig::device
