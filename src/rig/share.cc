// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/share.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/guarded.h"
#include "rig/memory.h"
#include "rig/runtime.h"
#include "transport/segment.h"

namespace commrig::rig {
namespace {

constexpr std::uint64_t kMagic = 0x31657261'68537263U;  // "crShare1"

// What stands in a handle. A file of memory has one number as long as anybody has it open, so the
// descriptor's number may be used again and is not taken for another.
struct Content {
  std::uint64_t magic;
  std::uint64_t file;  // its number and its file system
  std::uint64_t file_system;
  std::uint64_t offset;  // of the allocation, in bytes
  std::uint64_t bytes;
  std::int32_t process;
  std::int32_t descriptor;
};
static_assert(sizeof(Content) <= sizeof(ShareHandle));

struct Opened {
  transport::Segment segment;
  int device = 0;
  int times = 1;
};
using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // file system, file, offset

struct Table {
  std::map<Key, void*> by_allocation;
  std::map<void*, std::pair<Key, Opened>> by_pointer;
};

Guarded<Table>& table() {
  static auto* const kTable = new Guarded<Table>;  // tidy: allow(new) until the process ends
  return *kTable;
}

Error unusable(std::string_view why) {
  return Error::make(Code::kShareHandle, std::string(why));
}

std::string text_of(int number) {
  return std::error_code(number, std::generic_category()).message();
}

// The owner's file, seen through its process.
Result<Descriptor> open_file(const Content& content) {
  const std::string path = fmt::format("/proc/{}/fd/{}", content.process, content.descriptor);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    return unusable(fmt::format("memory of process {}: {}", content.process, text_of(errno)));
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || facts.st_ino != content.file ||
      facts.st_dev != content.file_system) {
    return unusable(
        fmt::format("process {} does not have that memory; it is not the one that has "
                    "made the handle, or lives in another container",
                    content.process));
  }
  return file;
}

Result<transport::Segment> map(const Content& content) {
  std::uint64_t end = 0;
  if (content.bytes == 0 || __builtin_add_overflow(content.offset, content.bytes, &end)) {
    return unusable("no handle: its range is none");
  }
  COMMRIG_ASSIGN(Descriptor file, open_file(content));
  Result<transport::Segment> mapped = transport::Segment::map(std::move(file), end);
  if (!mapped) return unusable(mapped.error().message);
  return mapped;
}

}  // namespace

Result<ShareHandle> share_memory(const void* pointer) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  const PointerInfo info = pointer_info(pointer);
  if (info.kind != MemoryKind::kDevice && info.kind != MemoryKind::kManaged) {
    return unusable(fmt::format("{} is not in device memory of this process", pointer));
  }
  auto* const base = static_cast<std::byte*>(info.base);
  const auto segments = found->machine().memory().segments_from(0);
  const auto segment = std::ranges::find_if(segments, [&](const auto& each) {
    return base >= each.base && base < each.base + each.bytes;
  });
  struct stat facts{};
  if (segment == segments.end() || ::fstat(segment->descriptor, &facts) != 0) {
    return unusable(fmt::format("{} is in no memory that can be shared", pointer));
  }
  const Content content{.magic = kMagic,
                        .file = facts.st_ino,
                        .file_system = facts.st_dev,
                        .offset = static_cast<std::uint64_t>(base - segment->base),
                        .bytes = info.bytes,
                        .process = ::getpid(),
                        .descriptor = segment->descriptor};
  ShareHandle handle{};
  std::memcpy(handle.data(), &content, sizeof(content));
  return handle;
}

Result<void*> open_memory(const ShareHandle& handle, int device) {
  COMMRIG_TRY(runtime());
  Content content{};
  std::memcpy(&content, handle.data(), sizeof(content));
  if (content.magic != kMagic) return unusable("bytes that no process has made a handle of");
  if (content.process == ::getpid()) {
    return unusable("a handle of this process; use the pointer that it was made from");
  }
  const Key key{content.file_system, content.file, content.offset};
  const auto locked = table().lock();
  if (const auto known = locked->by_allocation.find(key); known != locked->by_allocation.end()) {
    ++locked->by_pointer.at(known->second).second.times;
    return known->second;
  }
  COMMRIG_ASSIGN(transport::Segment segment, map(content));
  void* const pointer = segment.base() + content.offset;
  add_shared(pointer, device, content.bytes);
  locked->by_allocation.emplace(key, pointer);
  locked->by_pointer.emplace(pointer, std::pair(key, Opened{std::move(segment), device}));
  return pointer;
}

Status close_memory(void* pointer) {
  COMMRIG_TRY(check_not_in_callback());
  const PointerInfo info = pointer_info(pointer);
  if (info.kind != MemoryKind::kShared || info.base != pointer) {
    return unusable(fmt::format("{} is not the start of memory of another process", pointer));
  }
  COMMRIG_TRY(settle_device(info.device));
  const auto locked = table().lock();
  const auto found = locked->by_pointer.find(pointer);
  if (found == locked->by_pointer.end()) return unusable("memory that another thread has closed");
  if (--found->second.second.times > 0) return ok();
  remove_shared(pointer);
  locked->by_allocation.erase(found->second.first);
  locked->by_pointer.erase(found);
  return ok();
}

}  // namespace commrig::rig
