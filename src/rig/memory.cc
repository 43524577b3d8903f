// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/guarded.h"
#include "base/host_memory.h"
#include "device/machine.h"
#include "rig/runtime.h"
#include "rig/step_work.h"
#include "rig/stream.h"

namespace commrig::rig {
namespace {

struct Range {
  MemoryKind kind;
  int device;
  std::size_t bytes;
  bool allocated;  // by us
};

class Ranges {
 public:
  // False if it meets one that is there.
  bool add(const void* start, const Range& range) {
    const auto ranges = ranges_.lock();
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    const auto next = ranges->upper_bound(begin);
    if (next != ranges->end() && next->first < begin + range.bytes) return false;
    if (next != ranges->begin()) {
      const auto& [at, before] = *std::prev(next);
      if (at + before.bytes > begin) return false;
    }
    ranges->emplace_hint(next, begin, range);
    return true;
  }

  // Takes out the one that starts there, if it is as wished.
  bool remove(const void* start, auto wished, Range* removed = nullptr) {
    const auto ranges = ranges_.lock();
    const auto place = ranges->find(reinterpret_cast<std::uintptr_t>(start));
    if (place == ranges->end() || !wished(place->second)) return false;
    if (removed != nullptr) *removed = place->second;
    ranges->erase(place);
    return true;
  }

  PointerInfo find(const void* pointer) const {
    const auto ranges = ranges_.lock();
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto next = ranges->upper_bound(address);
    if (next == ranges->begin()) return {};
    const auto& [start, range] = *std::prev(next);
    if (address - start >= range.bytes) return {};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it came from one
    return {range.kind, range.device, reinterpret_cast<void*>(start), range.bytes};
  }

 private:
  Guarded<std::map<std::uintptr_t, Range>> ranges_;
};

Ranges& ranges() {
  static auto* const kRanges = new Ranges;  // tidy: allow(new) lives until the process ends
  return *kRanges;
}

bool is_of_device(const Range& range) {
  return range.kind == MemoryKind::kDevice || range.kind == MemoryKind::kManaged;
}

// Memory that is mapped, and which device::Memory does not know.
bool is_mapped(const PointerInfo& info) {
  return info.kind == MemoryKind::kHost || info.kind == MemoryKind::kShared;
}

Status check_inside(const PointerInfo& info, const void* start, std::size_t bytes) {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(start) -
                                               static_cast<const std::byte*>(info.base));
  if (bytes <= info.bytes - offset) return ok();
  return Error::make(Code::kOutOfRange,
                     fmt::format("{} bytes at offset {} of {} memory of {} bytes", bytes, offset,
                                 info.kind == MemoryKind::kHost ? "host" : "shared", info.bytes));
}

Error no_host_memory(const void* pointer, const char* state) {
  return Error::make(Code::kHostMemory, fmt::format("{} {}", pointer, state));
}

// One row after the other, each checked before the first is touched.
Status copy_rows(device::Memory& memory, const Copy& copy) {
  const auto* source = static_cast<const std::byte*>(copy.source);
  auto* target = static_cast<std::byte*>(copy.target);
  for (std::size_t row = 0; row < copy.height; ++row) {
    const std::byte* const from = source + row * copy.source_pitch;
    std::byte* const to = target + row * copy.target_pitch;
    if (memory.is_device_address(from)) COMMRIG_TRY(memory.resolve(from, copy.width));
    if (memory.is_device_address(to)) COMMRIG_TRY(memory.resolve(to, copy.width));
  }
  for (std::size_t row = 0; row < copy.height; ++row) {
    std::memmove(target + row * copy.target_pitch, source + row * copy.source_pitch, copy.width);
  }
  return ok();
}

// Whether all rows lie in known memory: 0 bytes behind the end of the last one.
std::size_t extent(std::size_t pitch, const Copy& copy) {
  return (copy.height - 1) * pitch + copy.width;
}

Status check_extent(device::Memory& memory, const void* start, std::size_t bytes,
                    HostAccess access) {
  if (start == nullptr) return Error::make(Code::kUnknownPointer, "a copy with a null pointer");
  const PointerInfo info = ranges().find(start);
  if (info.kind == MemoryKind::kShared) return check_inside(info, start, bytes);
  return device::check_range(memory, start, bytes, access);
}

Status check_pitch(const Copy& copy, std::size_t pitch) {
  std::size_t bytes = 0;
  if ((pitch >= copy.width || copy.height == 1) &&
      !__builtin_mul_overflow(copy.height, pitch, &bytes) &&
      !__builtin_add_overflow(bytes, copy.width, &bytes)) {
    return ok();
  }
  return Error::make(Code::kBadArgument,
                     fmt::format("{} rows of {} bytes with a distance of {} bytes", copy.height,
                                 copy.width, pitch));
}

}  // namespace

Result<void*> allocate(int device, std::size_t bytes, MemoryKind kind) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  // The place would be this line and not the program's.
  COMMRIG_ASSIGN(void* const pointer,
                 found->machine().memory().allocate(device, bytes, std::source_location()));
  ranges().add(pointer, {kind, device, bytes, true});
  return pointer;
}

Status release(void* pointer) {
  if (pointer == nullptr) return ok();
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  const PointerInfo info = ranges().find(pointer);
  if (info.kind == MemoryKind::kHost) {
    return no_host_memory(pointer, "is host memory, which is freed in another way");
  }
  if (info.device >= 0) COMMRIG_TRY(settle_device(info.device));
  // Out of the table first: the address may be given again as soon as it is released.
  Range removed{};
  const bool known = ranges().remove(pointer, is_of_device, &removed);
  Status status = found->machine().memory().release(pointer);
  if (!status && known) ranges().add(pointer, removed);
  return status;
}

Result<void*> allocate_host(int device, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  if (bytes == 0) return Error::make(Code::kZeroSize, "host memory of 0 bytes");
  void* pointer = nullptr;
  if (bytes <= SIZE_MAX - kPage) {
    pointer = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  }
  if (pointer == nullptr) {
    return Error::make(Code::kOutOfMemory, fmt::format("host memory of {} bytes", bytes));
  }
  ranges().add(pointer, {MemoryKind::kHost, device, bytes, true});
  return pointer;
}

Status release_host(void* pointer) {
  if (pointer == nullptr) return ok();
  const PointerInfo info = ranges().find(pointer);
  if (info.kind == MemoryKind::kHost) COMMRIG_TRY(settle_device(info.device));
  const auto ours = [](const Range& range) {
    return range.kind == MemoryKind::kHost && range.allocated;
  };
  if (!ranges().remove(pointer, ours)) {
    return no_host_memory(pointer, "is not the start of allocated host memory");
  }
  std::free(pointer);
  return ok();
}

Status register_host(int device, void* pointer, std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) {
    return Error::make(Code::kBadArgument,
                       fmt::format("registering {} bytes at {}", bytes, pointer));
  }
  COMMRIG_TRY(check_host_memory(pointer, bytes, HostAccess::kRead));
  if (ranges().add(pointer, {MemoryKind::kHost, device, bytes, false})) return ok();
  return no_host_memory(pointer, "lies in memory that is registered or allocated already");
}

Status unregister_host(void* pointer) {
  const PointerInfo info = ranges().find(pointer);
  if (info.kind == MemoryKind::kHost) COMMRIG_TRY(settle_device(info.device));
  const auto registered = [](const Range& range) {
    return range.kind == MemoryKind::kHost && !range.allocated;
  };
  if (ranges().remove(pointer, registered)) return ok();
  return no_host_memory(pointer, "is not the start of registered host memory");
}

Status settle_device(int device) {
  COMMRIG_TRY(check_not_in_callback());
  (void)synchronize_device(device);
  return ok();
}

void add_shared(void* pointer, int device, std::size_t bytes) {
  ranges().add(pointer, {MemoryKind::kShared, device, bytes, false});
}

void remove_shared(void* pointer) {
  ranges().remove(pointer, [](const Range& range) { return range.kind == MemoryKind::kShared; });
}

PointerInfo pointer_info(const void* pointer) {
  return ranges().find(pointer);
}

Status check_reachable(const void* pointer, std::size_t bytes) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  const PointerInfo info = ranges().find(pointer);
  if (bytes == 0 || info.kind == MemoryKind::kHost) return ok();
  if (info.kind == MemoryKind::kShared) return check_inside(info, pointer, bytes);
  COMMRIG_TRY(found->machine().memory().resolve(pointer, bytes));
  return ok();
}

Result<MemoryUse> memory_use(int device) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  if (device < 0 || device >= found->machine().devices()) {
    return Error::make(Code::kBadDevice, fmt::format("device {}", device));
  }
  const std::size_t total = device::MemoryOptions().bytes_per_device;
  return MemoryUse{total - found->machine().memory().used_bytes(device), total};
}

Status copy_on_stream(void* stream, int device, const Copy& copy) {
  if (copy.width == 0 || copy.height == 0) return ok();
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  device::Memory& memory = found->machine().memory();
  COMMRIG_TRY(check_pitch(copy, copy.target_pitch));
  COMMRIG_TRY(check_pitch(copy, copy.source_pitch));
  COMMRIG_TRY(
      check_extent(memory, copy.target, extent(copy.target_pitch, copy), HostAccess::kWrite));
  COMMRIG_TRY(
      check_extent(memory, copy.source, extent(copy.source_pitch, copy), HostAccess::kRead));
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> found_stream,
                 stream_for_work(stream, device));
  Copy work = copy;
  std::vector<std::byte> staged;
  if (ranges().find(copy.source).kind == MemoryKind::kOrdinary &&
      ranges().find(copy.target).kind != MemoryKind::kOrdinary) {
    const auto* const start = static_cast<const std::byte*>(copy.source);
    staged.assign(start, start + extent(copy.source_pitch, copy));
  }
  const bool waits = ranges().find(copy.target).kind == MemoryKind::kOrdinary;
  COMMRIG_TRY(found_stream->enqueue(
      std::make_unique<StepWork>([&memory, work, staged = std::move(staged)]() mutable -> Status {
        if (!staged.empty()) work.source = staged.data();
        return copy_rows(memory, work);
      })));
  return waits ? synchronize_stream(stream, device) : ok();
}

Status fill_on_stream(void* stream, int device, void* target, std::uint8_t value,
                      std::size_t bytes) {
  if (bytes == 0) return ok();
  const PointerInfo info = ranges().find(target);
  if (!is_mapped(info)) {
    COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> found, stream_for_work(stream, device));
    return device::fill(*found, target, value, bytes);
  }
  COMMRIG_TRY(check_inside(info, target, bytes));
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> found, stream_for_work(stream, device));
  return found->enqueue(std::make_unique<StepWork>([target, value, bytes] {
    std::memset(target, value, bytes);
    return ok();
  }));
}

}  // namespace commrig::rig
