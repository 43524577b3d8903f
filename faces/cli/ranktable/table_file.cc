// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/table_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "topo/json_document.h"

namespace commrig::cli {
namespace {

Error failed(Code code, std::string_view what, const std::string& path, int error) {
  return Error::make(code, fmt::format("cannot {} {}: {}", what, path.empty() ? "\"\"" : path,
                                       std::generic_category().message(error)));
}

Error unreadable(const std::string& path, int error) {
  return failed(Code::kBadArgument, "read", path, error);
}

Error unwritable(const std::string& path, int error) {
  // A full or broken disk is not the fault of the name; everything else is.
  const bool disk = error == ENOSPC || error == EDQUOT || error == EIO;
  return failed(disk ? Code::kSystemCall : Code::kBadArgument, "write", path, error);
}

Result<std::string> read_all(const std::string& path, int file) {
  std::string text;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + kChunk);
    const ssize_t got = read(file, text.data() + size, kChunk);
    if (got < 0 && errno != EINTR) return unreadable(path, errno);
    text.resize(size + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got == 0) return text;
    if (text.size() > topo::JsonDocument::kBytesMax) return unreadable(path, EFBIG);
  }
}

Status write_all(const std::string& path, int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return unwritable(path, errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return ok();
}

// Beside the target, in a new file of its own; its name is left in `name`.
Status write_beside(const std::string& path, std::string& name, const std::string& text) {
  const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) return unwritable(path, errno);
  COMMRIG_TRY(write_all(path, file.get(), text));
  // As a producer's files are: everybody may read them.
  if (fchmod(file.get(), 0644) != 0 || fsync(file.get()) != 0) return unwritable(path, errno);
  if (rename(name.c_str(), path.c_str()) != 0) return unwritable(path, errno);
  return ok();
}

}  // namespace

Result<std::string> read_table_file(const std::string& path) {
  if (path == "-") return read_all("standard input", STDIN_FILENO);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return unreadable(path, errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) return unreadable(path, EISDIR);
  // Devices may never end.
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    return Error::make(Code::kBadArgument,
                       fmt::format("cannot read {}: neither a file nor a pipe", path));
  }
  return read_all(path, file.get());
}

std::vector<topo::TableFinding> check_file(const std::string& path) {
  std::vector<topo::TableFinding> findings;
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return findings;
  const auto add = [&](topo::Rule rule) -> topo::TableFinding& {
    topo::TableFinding finding;
    finding.rule = rule;
    finding.severity = topo::info(rule).severity;
    return findings.emplace_back(std::move(finding));
  };
  const std::string resolved = std::filesystem::canonical(path, error).string();
  if (error) return findings;
  if (resolved.find(".json") != resolved.size() - 5 || resolved.size() < 5) {
    topo::TableFinding& finding = add(topo::Rule::kFileName);
    finding.found = resolved;
    finding.expected = "a path whose first \".json\" is its end";
  }
  if (std::filesystem::is_symlink(path, error))
    add(topo::Rule::kLink).found = "a link to " + resolved;
  return findings;
}

Status write_table_file(const std::string& path, const std::string& text) {
  if (path == "-") return write_all("standard output", STDOUT_FILENO, text);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  // A device or a pipe must not become a file.
  if (std::filesystem::is_other(status)) {
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file ? write_all(path, file.get(), text) : unwritable(path, errno);
  }
  // A link stays one: what it names is replaced.
  const std::string target = std::filesystem::is_regular_file(status)
                                 ? std::filesystem::canonical(path, error).string()
                                 : path;
  std::string name = target + ".XXXXXX";
  const Status written = write_beside(target, name, text);
  if (!written) unlink(name.c_str());
  return written;
}

}  // namespace commrig::cli
