// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/wait_file.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kInitializing = R"({"status": "initializing"})";
constexpr const char* kCompleted =
    R"({"status": "completed", "version": "1.0", "server_list": []})";
constexpr Nanos kNever = std::chrono::hours(24);

// A folder that goes with the test. What is waited for happens in the last moment before the wait
// sleeps, so that only being told of it can end the sleep: the next look would be in a day.
class WaitFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "commrig_wait_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
  }
  Status wait_while(std::function<void()> change, const std::string& name = "hccl.json") {
    bool done = false;
    return wait_completed(at(name), clock_,
                          {.recheck = kNever, .before_sleep = [&done, change = std::move(change)] {
                             if (!std::exchange(done, true)) change();
                           }});
  }

  fs::path folder_;
  RealClock clock_;
};

TEST_F(WaitFile, ACompletedTableNeedsNoWait) {
  write("hccl.json", kCompleted);
  EXPECT_TRUE(wait_completed(at("hccl.json"), clock_, {.before_sleep = [] { FAIL(); }}));
}

TEST_F(WaitFile, AFileThatIsWrittenIsNoticed) {
  write("hccl.json", kInitializing);
  EXPECT_TRUE(wait_while([&] { write("hccl.json", kCompleted); }));
}

TEST_F(WaitFile, AFileThatAppearsWithItsFolderIsNoticed) {
  int step = 0;
  const Status status =
      wait_completed(at("a/b/hccl.json"), clock_, {.recheck = kNever, .before_sleep = [&] {
                                                     if (step == 0) fs::create_directory(at("a"));
                                                     if (step == 1) fs::create_directory(at("a/b"));
                                                     if (step == 2)
                                                       write("a/b/hccl.json", kCompleted);
                                                     ++step;
                                                   }});
  EXPECT_TRUE(status);
}

TEST_F(WaitFile, AFileThatIsRenamedIntoPlaceIsNoticed) {
  write("hccl.json", kInitializing);
  write("new", kCompleted);
  EXPECT_TRUE(wait_while([&] { fs::rename(at("new"), at("hccl.json")); }));
}

TEST_F(WaitFile, AConfigMapThatIsSwappedAsAWholeIsNoticed) {
  fs::create_directory(at("..2026_1"));
  write("..2026_1/hccl.json", kInitializing);
  fs::create_symlink("..2026_1", at("..data"));
  fs::create_symlink("..data/hccl.json", at("hccl.json"));
  EXPECT_TRUE(wait_while([&] {
    fs::create_directory(at("..2026_2"));
    write("..2026_2/hccl.json", kCompleted);
    fs::create_symlink("..2026_2", at("..data_tmp"));
    fs::rename(at("..data_tmp"), at("..data"));
    fs::remove_all(at("..2026_1"));
  }));
}

TEST_F(WaitFile, ALinkIntoAnotherFolderIsFollowed) {
  fs::create_directory(at("far"));
  write("far/hccl.json", kInitializing);
  fs::create_symlink(at("far/hccl.json"), at("hccl.json"));
  EXPECT_TRUE(wait_while([&] { write("far/hccl.json", kCompleted); }));
}

TEST_F(WaitFile, WithoutNoticesTheFileIsLookedAtAgain) {
  write("hccl.json", kInitializing);
  int sleeps = 0;
  const Status status = wait_completed(
      at("hccl.json"), clock_,
      {.recheck = std::chrono::milliseconds(1), .notify = false, .before_sleep = [&] {
         if (++sleeps == 3) write("hccl.json", kCompleted);
       }});
  EXPECT_TRUE(status);
  EXPECT_EQ(sleeps, 3);
}

class SteppedClock final : public Clock {
 public:
  Nanos now() const override { return now_ += std::chrono::seconds(1); }

 private:
  mutable Nanos now_{0};
};

TEST_F(WaitFile, TheDeadlineNamesTheReason) {
  const SteppedClock clock;
  const WaitOptions options{.deadline = std::chrono::seconds(3),
                            .recheck = std::chrono::milliseconds(1)};
  const auto why = [&](const char* text) {
    if (text != nullptr) write("hccl.json", text);
    const Status status = wait_completed(at("hccl.json"), clock, options);
    EXPECT_FALSE(status);
    if (status) return std::string();
    EXPECT_EQ(status.error().code, Code::kDeadline);
    return status.error().message;
  };
  EXPECT_THAT(why(nullptr), HasSubstr("No such file"));
  EXPECT_THAT(why(""), HasSubstr("the file is empty"));
  EXPECT_THAT(why(kInitializing), HasSubstr("its status is \"initializing\""));
  EXPECT_THAT(why("{\"status\": \"comp"), HasSubstr("it is no JSON at 1:"));
  EXPECT_THAT(why("{\"server_list\": []}"), HasSubstr("it has no status"));
  EXPECT_THAT(why("{\"server_group_list\": []}"), HasSubstr("global table of MindIE"));
  EXPECT_THAT(why("{\"status\": \"complete\", \"server_list\": []}"),
              HasSubstr("its status is \"complete\""));
}

TEST_F(WaitFile, LinksInACircleEndWithTheDeadline) {
  fs::create_symlink("hccl.json", at("hccl.json"));
  const SteppedClock clock;
  const Status status = wait_completed(
      at("hccl.json"), clock,
      {.deadline = std::chrono::seconds(2), .recheck = std::chrono::milliseconds(1)});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("cannot read"));
}

}  // namespace
}  // namespace commrig::cli
