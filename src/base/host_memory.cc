// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace commrig {
namespace {

// Older headers do not have them; kernels know them since 5.14.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

std::uintptr_t page_bytes() {
  static const auto kBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return kBytes;
}

void* pointer_to(std::uintptr_t page) {
  return reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr): it came from one
}

// By the list of this process's mappings, which are in order; true where there is no list.
bool has_rights(std::uintptr_t begin, std::uintptr_t end, HostAccess access) {
  std::ifstream list("/proc/self/maps");
  if (!list) return true;
  std::string line;
  while (begin < end && std::getline(list, line)) {
    std::istringstream words(line);
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> from >> dash >> to >> rights;
    if (to <= begin) continue;
    const char right = access == HostAccess::kWrite ? 'w' : 'r';
    if (from > begin || rights.find(right) == std::string::npos) return false;
    begin = to;
  }
  return begin >= end;
}

// Of whole pages, which come into being.
bool are_usable(std::uintptr_t begin, std::uintptr_t end, HostAccess access) {
  const int advice = access == HostAccess::kWrite ? kPopulateWrite : kPopulateRead;
  int result = 0;
  do {
    result = ::madvise(pointer_to(begin), end - begin, advice);
  } while (result != 0 && (errno == EAGAIN || errno == EINTR));
  if (result == 0) return true;
  if (errno == ENOMEM || errno == EFAULT) return false;
  // No right, memory of a driver, or a kernel that doesn't know the advice.
  return has_rights(begin, end, access);
}

// Whether there is no hole.
bool is_mapped(std::uintptr_t begin, std::uintptr_t end) {
  return ::msync(pointer_to(begin), end - begin, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

Status check_host_memory(const void* start, std::size_t bytes, HostAccess access) {
  if (bytes == 0) return ok();
  const std::uintptr_t mask = page_bytes() - 1;
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  std::uintptr_t end = 0;
  const bool wraps = __builtin_add_overflow(begin, bytes, &end) ||
                     __builtin_add_overflow(end, mask, &end);  // to the end of its page
  const std::uintptr_t first = begin & ~mask;
  const std::uintptr_t last = (end & ~mask) - page_bytes();
  if (!wraps && is_mapped(first, last + page_bytes()) &&
      are_usable(first, first + page_bytes(), access) &&
      (last == first || are_usable(last, last + page_bytes(), access))) {
    return ok();
  }
  return Error::make(Code::kHostRange,
                     fmt::format("{} bytes at {}, which this process cannot {}", bytes, start,
                                 access == HostAccess::kWrite ? "write" : "read"));
}

}  // namespace commrig
