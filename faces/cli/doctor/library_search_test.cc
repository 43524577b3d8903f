// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/library_search.h"

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "faces/cli/doctor/folder_for_test.h"

namespace commrig::cli::doctor {
namespace {

constexpr std::array<std::string_view, 1> kNone{"?"};

TEST(LibrarySearch, FoldersAreSplitAndOriginIsTheFilesOwn) {
  EXPECT_EQ(split_folders("/a::$ORIGIN/../lib:${ORIGIN}", "/x/y/prog"),
            (Folders{"/a", "/x/y/../lib", "/x/y"}));
  EXPECT_EQ(split_folders("", "/x"), Folders{});
}

TEST(LibrarySearch, FoldersComeInTheLoadersOrder) {
  const FolderForTest folder;
  for (const char* const each : {"rpath", "given", "runpath", "system"}) {
    folder.write(std::string(each) + "/libx.so", ElfForTest{}.bytes());
  }
  SearchPath path{.before = {folder.path("rpath")},
                  .given = {folder.path("given")},
                  .after = {folder.path("runpath")},
                  .system = {folder.path("system")}};
  for (Folders* const each : {&path.before, &path.given, &path.after, &path.system}) {
    const auto found = find_library("libx.so", path, kNone);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->path.parent_path(), each->front());
    each->clear();
  }
  EXPECT_FALSE(find_library("libx.so", path, kNone).has_value());
}

TEST(LibrarySearch, FilesForOtherMachinesArePassedOver) {
  const FolderForTest folder;
  ElfForTest foreign;
  foreign.machine = EM_RISCV;
  folder.write("one/libx.so", foreign.bytes());
  folder.write("two/libx.so", ElfForTest{}.bytes());
  const SearchPath path{.before = {},
                        .given = {folder.path("none"), folder.path("one"), folder.path("two")},
                        .after = {},
                        .system = {}};
  const auto found = find_library("libx.so", path, kNone);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->path.parent_path(), folder.path("two"));
}

TEST(LibrarySearch, ConfigurationIncludesOtherFilesAndItself) {
  const FolderForTest folder;
  std::ofstream(folder.path("ld.so.conf")) << "# nothing\ninclude parts/*.conf\n/first # so\n"
                                           << "include ld.so.conf\n";
  std::filesystem::create_directory(folder.path("parts"));
  std::ofstream(folder.path("parts/a.conf")) << "/of/a\n";
  const Folders folders = system_folders(folder.path("ld.so.conf"));
  ASSERT_GE(folders.size(), 3U);
  EXPECT_EQ(folders[0], "/of/a");
  EXPECT_EQ(folders[1], "/first");
  EXPECT_EQ(folders.back(), "/usr/lib");
}

}  // namespace
}  // namespace commrig::cli::doctor
