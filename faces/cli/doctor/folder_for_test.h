// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "faces/cli/doctor/elf_for_test.h"

namespace commrig::cli::doctor {

// A folder of the test's own, which goes with it.
class FolderForTest {
 public:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "commrig-XXXXXX").string();
    COMMRIG_CHECK(::mkdtemp(name.data()) != nullptr, "no folder for a test");
    path_ = name;
  }
  ~FolderForTest() {
    std::error_code failed;
    std::filesystem::remove_all(path_, failed);
  }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }

  // An executable file; returns its path.
  std::string write(const std::string& name, const std::vector<std::byte>& bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::filesystem::permissions(file, std::filesystem::perms{0755});
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace commrig::cli::doctor
