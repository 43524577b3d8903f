// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace commrig::cli::doctor {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const auto failed = [&](int number) {
    return Error::make(
        Code::kBadArgument,
        fmt::format("{}: {}", path, std::error_code(number, std::generic_category()).message()));
  };
  // Not blocked by a fifo.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return failed(errno);
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return failed(errno);
  if (S_ISDIR(facts.st_mode)) return failed(EISDIR);
  if (!S_ISREG(facts.st_mode)) return Error::make(Code::kBadArgument, path + ": not a plain file");
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size == 0) return MappedFile({});
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) return failed(errno);
  return MappedFile(std::span(static_cast<const std::byte*>(bytes), size));
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace commrig::cli::doctor
