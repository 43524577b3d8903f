// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace commrig::device {
namespace {

// Segments are sparse, so a large one costs address space only.
constexpr std::size_t kSegmentBytes = std::size_t{1} << 30U;

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

std::byte* align_up(std::byte* address, std::size_t alignment) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return address + (round_up(bits, alignment) - bits);
}

Error system_error(const char* call, std::size_t bytes) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(Code::kSystemCall, fmt::format("{} of {} bytes: {}", call, bytes, text));
}

// Maps the whole file at an address that huge pages can have.
void* map_aligned(int descriptor, std::size_t bytes) {
  const std::size_t reserved = bytes + Arena::kHugePage;
  void* const space =
      ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return space;
  auto* const start = static_cast<std::byte*>(space);
  std::byte* const base = align_up(start, Arena::kHugePage);
  const auto before = static_cast<std::size_t>(base - start);
  if (before != 0) ::munmap(start, before);
  ::munmap(base + bytes, Arena::kHugePage - before);
  void* const mapped = ::mmap(base, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
  if (mapped == MAP_FAILED) ::munmap(base, bytes);
  return mapped;
}

}  // namespace

Arena::~Arena() {
  for (const Segment& segment : segments_) {
    ::munmap(segment.base, segment.bytes);
    ::close(segment.descriptor);
  }
}

Status Arena::add_segment(std::size_t bytes_at_least) {
  const std::size_t bytes = round_up(std::max(bytes_at_least, kSegmentBytes), kPage);
  // Beyond this limit the system would end the process instead of refusing.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    return Error::make(Code::kSystemCall,
                       fmt::format("device memory needs a file of {} bytes in memory; the limit of "
                                   "file sizes (ulimit -f) is {}",
                                   bytes, limit.rlim_cur));
  }
  const int descriptor = ::memfd_create("commrig-device", MFD_CLOEXEC);
  if (descriptor < 0) return system_error("memfd_create", bytes);
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    Error error = system_error("ftruncate", bytes);
    ::close(descriptor);
    return error;
  }
  void* const base = map_aligned(descriptor, bytes);
  if (base == MAP_FAILED) {
    Error error = system_error("mmap", bytes);
    ::close(descriptor);
    return error;
  }
  segments_.push_back(Segment{static_cast<std::byte*>(base), bytes, descriptor});
  free_.emplace(static_cast<std::byte*>(base), bytes);
  return ok();
}

Result<std::byte*> Arena::take(std::size_t bytes, std::size_t alignment) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
      const auto [start, size] = *hole;
      std::byte* const aligned = align_up(start, alignment);
      const auto skipped = static_cast<std::size_t>(aligned - start);
      if (size < skipped || size - skipped < bytes) continue;
      free_.erase(hole);
      if (skipped != 0) free_.emplace(start, skipped);
      if (size - skipped != bytes) free_.emplace(aligned + bytes, size - skipped - bytes);
      return aligned;
    }
    COMMRIG_TRY(add_segment(round_up(bytes + alignment, kHugePage)));
  }
  check_failed("take", "a fresh segment is too small for its request");
}

void Arena::give_back(std::byte* start, std::size_t bytes) {
  auto next = free_.upper_bound(start);
  // Only ranges of one segment are merged: two segments may be neighbours by chance.
  if (next != free_.end() && start + bytes == next->first &&
      segment_of(start) == segment_of(next->first)) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start && segment_of(before->first) == segment_of(start)) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(start, bytes);
}

bool Arena::discard(std::byte* start, std::size_t bytes) {
  const Segment* segment = segment_of(start);
  COMMRIG_CHECK(segment != nullptr, "discard outside the arena");
  const std::size_t first = round_up(static_cast<std::size_t>(start - segment->base), kPage);
  const std::size_t last =
      (static_cast<std::size_t>(start - segment->base) + bytes) / kPage * kPage;
  if (first >= last) return true;
  return ::fallocate(segment->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(first), static_cast<off_t>(last - first)) == 0;
}

const Arena::Segment* Arena::segment_of(const std::byte* address) const {
  const auto found = std::ranges::find_if(segments_, [address](const Segment& segment) {
    return address >= segment.base && address < segment.base + segment.bytes;
  });
  return found == segments_.end() ? nullptr : &*found;
}

std::vector<ArenaSegment> Arena::segments_from(std::size_t first) const {
  std::vector<ArenaSegment> found;
  for (std::size_t i = first; i < segments_.size(); ++i) {
    found.push_back({i, segments_[i].base, segments_[i].bytes, segments_[i].descriptor});
  }
  return found;
}

bool Arena::owns(const std::byte* address) const {
  return segment_of(address) != nullptr;
}

}  // namespace commrig::device
