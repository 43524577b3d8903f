// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/installed.h"

#include <filesystem>
#include <system_error>

namespace commrig::cli {

std::vector<std::string> library_folders() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  std::vector<std::string> folders;
  for (const char* const each : {"nccl/lib", "cuda/lib64"}) {
    const auto folder = program.parent_path().parent_path() / each;
    if (std::filesystem::is_directory(folder, failed)) folders.push_back(folder.string());
  }
  return folders;
}

}  // namespace commrig::cli
