// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace commrig::transport {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14

Result<std::byte*> map_shared(int descriptor, std::size_t bytes) {
  void* const base =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) return system_error("mmap", bytes);
  return static_cast<std::byte*>(base);
}

}  // namespace

Error system_error(const char* what, std::size_t bytes) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(Code::kSystemCall, fmt::format("{} of {} bytes: {}", what, bytes, text));
}

Segment::~Segment() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

Segment::Segment(Segment&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<Segment> Segment::create(const char* name, std::size_t bytes) {
  // Beyond this limit the system would end the process instead of refusing.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    return Error::make(Code::kSystemCall,
                       fmt::format("a shared segment of {} bytes; the limit of file sizes (ulimit "
                                   "-f) is {}",
                                   bytes, limit.rlim_cur));
  }
  Descriptor descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) return system_error("memfd_create", bytes);
  if (::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error("ftruncate", bytes);
  }
  // So that nobody can take the pages from under another one's feet.
  if (::fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("sealing", bytes);
  }
  COMMRIG_ASSIGN(std::byte * base, map_shared(descriptor.get(), bytes));
  return Segment(std::move(descriptor), base, bytes);
}

Result<Segment> Segment::map(Descriptor descriptor, std::size_t bytes) {
  struct stat found{};
  if (::fstat(descriptor.get(), &found) != 0) return system_error("fstat", bytes);
  if (bytes == 0 || static_cast<std::size_t>(found.st_size) < bytes) {
    return Error::make(
        Code::kPeerAddress,
        fmt::format("a shared segment has {} bytes, and its owner says {}", found.st_size, bytes));
  }
  COMMRIG_ASSIGN(std::byte * base, map_shared(descriptor.get(), bytes));
  return Segment(std::move(descriptor), base, bytes);
}

void Segment::prefault() const {
  if (base_ != nullptr) ::madvise(base_, bytes_, kPopulateWrite);
}

}  // namespace commrig::transport
