// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/faces/ranks.h"

// The lines that NCCL_DEBUG asks for.
namespace commrig::faces {
namespace {

class Debug : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "commrig-debug-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    for (const char* const name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"}) {
      EXPECT_EQ(unsetenv(name), 0);
    }
    ncclResetDebugInit();
    std::filesystem::remove_all(folder_);
  }
  void set(const char* level, const char* subsystems) const {
    EXPECT_EQ(setenv("NCCL_DEBUG", level, 1), 0);
    EXPECT_EQ(setenv("NCCL_DEBUG_SUBSYS", subsystems, 1), 0);
    EXPECT_EQ(setenv("NCCL_DEBUG_FILE", (folder_ + "/%p%%.log").c_str(), 1), 0);
    ncclResetDebugInit();
  }
  std::string path() const { return folder_ + "/" + std::to_string(getpid()) + "%.log"; }
  std::string read() const {
    std::ifstream file(path());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

TEST_F(Debug, CollectivesAreLinesInTheKnownShape) {
  const Ranks one(1);
  const Buffer data(0, std::vector<std::byte>(64));
  set("INFO", "COLL");
  ASSERT_NCCL(
      ncclReduce(data.at(), data.at(), 16, ncclFloat, ncclMax, 0, one.comms[0], one.streams[0]));
  one.synchronize();
  const std::string told = read();
  std::ostringstream line;
  line << " NCCL INFO Reduce: opCount 0 sendbuff " << data.at() << " recvbuff " << data.at()
       << " count 16 datatype 7 op 2 root 0 comm " << one.comms[0] << " [nranks=1] stream "
       << one.streams[0] << "\n";
  EXPECT_NE(told.find(line.str()), std::string::npos) << told;
  EXPECT_EQ(told.find("Init"), std::string::npos) << told;
}

TEST_F(Debug, AResetReadsTheVariablesAnew) {
  set("WARN", "ALL");
  EXPECT_NCCL(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_NE(read().find("NCCL WARN GetVersion : version argument is NULL\n"), std::string::npos)
      << read();
  set("NONE", "ALL");
  std::filesystem::resize_file(path(), 0);
  EXPECT_NCCL(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_EQ(read(), "");
}

TEST_F(Debug, SettingUpIsToldUnlessItsSubsystemIsLeftOut) {
  set("INFO", "^INIT");
  {
    const Ranks quiet(1);
  }
  EXPECT_EQ(read().find("Init"), std::string::npos) << read();
  set("INFO", "INIT");
  {
    const Ranks told(2);
  }
  EXPECT_NE(read().find("ncclCommInitAll comm "), std::string::npos) << read();
  EXPECT_NE(read().find(" rank 1 nranks 2 cudaDev 1 - Init COMPLETE\n"), std::string::npos)
      << read();
}

}  // namespace
}  // namespace commrig::faces
