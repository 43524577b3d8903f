// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/library_search.h"

#include <glob.h>

#include <fstream>
#include <sstream>

#include "faces/cli/doctor/mapped_file.h"

namespace commrig::cli::doctor {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kTriplet = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr std::string_view kTriplet = "aarch64-linux-gnu";
#endif

std::string replaced(std::string text, std::string_view name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), value);
    at += value.size();
  }
  return text;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t matched{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &matched) == 0) {
    files.assign(matched.gl_pathv, matched.gl_pathv + matched.gl_pathc);
  }
  ::globfree(&matched);
  return files;
}

// Files include others; one that includes itself ends at the depth.
void read_configuration(const std::filesystem::path& file, int depth, Folders& folders) {
  constexpr int kDepth = 8;
  if (depth == kDepth) return;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      folders.push_back(word);
      continue;
    }
    while (words >> word) {
      const std::filesystem::path pattern = file.parent_path() / word;  // the word, if absolute
      for (const auto& each : files_of_pattern(pattern.string())) {
        read_configuration(each, depth + 1, folders);
      }
    }
  }
}

std::optional<FoundLibrary> try_file(const std::filesystem::path& path,
                                     std::span<const std::string_view> prefixes) {
  const Result<MappedFile> file = MappedFile::open(path.string());
  if (!file) return std::nullopt;
  Result<ElfFile> elf = read_elf(file->bytes(), prefixes);
  if (!elf || !elf->native) return std::nullopt;
  return FoundLibrary{path, std::move(elf).value()};
}

}  // namespace

Folders split_folders(std::string_view text, const std::filesystem::path& file) {
  Folders folders;
  const std::string origin = std::filesystem::absolute(file).parent_path().string();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    std::string folder(text.substr(0, end));
    folder = replaced(replaced(std::move(folder), "${ORIGIN}", origin), "$ORIGIN", origin);
    if (!folder.empty()) folders.push_back(std::move(folder));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return folders;
}

Folders system_folders(const std::filesystem::path& configuration) {
  Folders folders;
  read_configuration(configuration, 0, folders);
  for (const char* const root : {"/lib", "/usr/lib"}) {
    folders.push_back(std::string(root) + "/" + std::string(kTriplet));
    folders.push_back(std::string(root) + "64");
    folders.emplace_back(root);
  }
  return folders;
}

std::optional<FoundLibrary> find_library(const std::string& name, const SearchPath& path,
                                         std::span<const std::string_view> prefixes) {
  if (name.find('/') != std::string::npos) return try_file(name, prefixes);
  for (const Folders* const folders : {&path.before, &path.given, &path.after, &path.system}) {
    for (const std::string& folder : *folders) {
      auto found = try_file(std::filesystem::path(folder) / name, prefixes);
      if (found) return found;
    }
  }
  return std::nullopt;
}

}  // namespace commrig::cli::doctor
