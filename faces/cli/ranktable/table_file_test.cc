// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/table_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace commrig::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using topo::Rule;
using topo::TableFinding;

class TableFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "commrig_file_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name) const {
    std::ofstream(folder_ / name) << "{}";
    return at(name);
  }

  fs::path folder_;
};

TEST_F(TableFile, NamesThatHcclRefusesAreFound) {
  EXPECT_THAT(check_file(file("hccl.json")), IsEmpty());
  EXPECT_THAT(check_file(file("table.txt")),
              ElementsAre(Field(&TableFinding::rule, Rule::kFileName)));
  fs::create_directory(at("a.json.d"));
  EXPECT_THAT(check_file(file("a.json.d/hccl.json")),
              ElementsAre(Field(&TableFinding::rule, Rule::kFileName)));
  fs::create_symlink("hccl.json", at("link.json"));
  EXPECT_THAT(check_file(at("link.json")), ElementsAre(Field(&TableFinding::rule, Rule::kLink)));
  fs::create_symlink("table.txt", at("text.json"));
  EXPECT_THAT(check_file(at("text.json")), ElementsAre(Field(&TableFinding::rule, Rule::kFileName),
                                                       Field(&TableFinding::rule, Rule::kLink)));
  EXPECT_THAT(check_file("-"), IsEmpty());
}

TEST_F(TableFile, WhatCannotBeReadSaysWhy) {
  const auto why = [](const std::string& path) {
    const auto text = read_table_file(path);
    return text ? std::string() : text.error().message;
  };
  EXPECT_THAT(why(at("absent.json")), HasSubstr("No such file"));
  EXPECT_THAT(why(folder_.string()), HasSubstr("Is a directory"));
  EXPECT_THAT(why("/dev/zero"), HasSubstr("cannot read /dev/zero: neither a file nor a pipe"));
  EXPECT_THAT(why(""), HasSubstr("cannot read \"\":"));
  EXPECT_THAT(why(std::string(5000, 'x')), HasSubstr("too long"));
}

TEST_F(TableFile, AWrittenFileIsWholeReadableAndAlone) {
  const std::string name = file("hccl.json");
  ASSERT_TRUE(write_table_file(name, "{\"a\": 1}"));
  EXPECT_EQ(read_table_file(name).value(), "{\"a\": 1}");
  struct stat status{};
  ASSERT_EQ(stat(name.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  const Status refused = write_table_file(at("absent/hccl.json"), "{}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBadArgument);
}

TEST_F(TableFile, ALinkStaysALinkAndAPipeStaysAPipe) {
  fs::create_directory(at("far"));
  fs::create_symlink(file("far/hccl.json"), at("link.json"));
  ASSERT_TRUE(write_table_file(at("link.json"), "{\"a\": 1}"));
  EXPECT_TRUE(fs::is_symlink(at("link.json")));
  EXPECT_EQ(read_table_file(at("far/hccl.json")).value(), "{\"a\": 1}");
  const std::string pipe = at("pipe.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Descriptor reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader);
  ASSERT_TRUE(write_table_file(pipe, "{\"a\": 2}"));
  EXPECT_TRUE(fs::is_fifo(pipe));
  std::string got(8, '\0');
  EXPECT_EQ(read(reader.get(), got.data(), got.size()), 8);
  EXPECT_EQ(got, "{\"a\": 2}");
}

}  // namespace
}  // namespace commrig::cli
