// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faces/cli/doctor/elf.h"

namespace commrig::cli::doctor {

using Folders = std::vector<std::string>;

// Where the system's loader looks for libraries, in this order.
struct SearchPath {
  Folders before;  // RPATH of the file, and of the program that has loaded it
  Folders given;   // LD_LIBRARY_PATH
  Folders after;   // RUNPATH of the file
  Folders system;
};

// The folders of a text with ':' between them, with $ORIGIN as the folder that `file` lies in.
Folders split_folders(std::string_view text, const std::filesystem::path& file);

// Those of the loader's configuration and its own. `configuration` is /etc/ld.so.conf; what can't
// be read counts as empty.
Folders system_folders(const std::filesystem::path& configuration);

struct FoundLibrary {
  std::filesystem::path path;
  ElfFile elf;
};

// The first file of the name that is for this machine, as the loader takes it; a name with a slash
// is a path.
std::optional<FoundLibrary> find_library(const std::string& name, const SearchPath& path,
                                         std::span<const std::string_view> prefixes);

}  // namespace commrig::cli::doctor
