// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/course.h"

#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli::run {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr End kGood{};
constexpr End kCode3{.by_signal = false, .number = 3};
constexpr End kKilled{.by_signal = true, .number = SIGKILL};

Course three_ranks(Nanos limit = kForever) {
  return Course({{100, {0}}, {101, {1}}, {102, {2}}}, seconds(0), limit);
}

TEST(Course, AllEndWell) {
  Course course = three_ranks();
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(course.over());
    EXPECT_TRUE(course.running(rank));
    course.on_end(rank, kGood, seconds(rank));
    EXPECT_FALSE(course.running(rank));
  }
  EXPECT_TRUE(course.over());
  EXPECT_EQ(course.exit_code(), 0);
  EXPECT_THAT(course.take_signals(), IsEmpty());
  EXPECT_FALSE(course.take_finding());
  EXPECT_EQ(course.next_time(), kForever);
}

TEST(Course, FirstFailureEndsTheOthers) {
  Course course = three_ranks();
  course.on_end(1, kCode3, seconds(1));
  EXPECT_THAT(course.take_signals(), ElementsAre(SIGTERM));
  const auto finding = course.take_finding();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, Code::kPeerLost);
  EXPECT_EQ(finding->message,
            "rank 1 of 3 (process 101) ended with exit code 3; ending ranks 0, 2");
  // What follows from it is not said again, and is not the exit code.
  course.on_end(0, kKilled, seconds(2));
  EXPECT_FALSE(course.take_finding());
  EXPECT_THAT(course.take_signals(), IsEmpty());
  course.on_end(2, kGood, seconds(2));
  EXPECT_TRUE(course.over());
  EXPECT_EQ(course.exit_code(), 3);
}

TEST(Course, WhoIgnoresTheEndIsKilled) {
  Course course = three_ranks();
  course.on_end(0, kKilled, seconds(1));
  EXPECT_THAT(course.take_finding()->message, HasSubstr("rank 0 of 3 (process 100) was killed by "
                                                        "SIGKILL"));
  EXPECT_THAT(course.take_signals(), ElementsAre(SIGTERM));
  EXPECT_EQ(course.next_time(), seconds(1) + Course::kGrace);
  course.on_time(course.next_time() - Nanos(1));
  EXPECT_THAT(course.take_signals(), IsEmpty());
  course.on_time(course.next_time());
  EXPECT_THAT(course.take_signals(), ElementsAre(SIGKILL));
  EXPECT_EQ(course.next_time(), kForever);
  EXPECT_EQ(course.exit_code(), 128 + SIGKILL);
}

TEST(Course, TimeEndsTheJobAndNamesWhoRuns) {
  Course course = three_ranks(seconds(30));
  course.on_end(1, kGood, seconds(2));
  EXPECT_EQ(course.next_time(), seconds(30));
  course.on_time(seconds(30));
  const auto finding = course.take_finding();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, Code::kDeadline);
  EXPECT_EQ(finding->message, "ranks 0, 2 of 3 still run after 30 s; ended well: rank 1");
  EXPECT_THAT(course.take_signals(), ElementsAre(SIGTERM));
  course.on_end(0, {.by_signal = true, .number = SIGTERM}, seconds(31));
  course.on_end(2, kGood, seconds(31));
  EXPECT_FALSE(course.take_finding());
  EXPECT_EQ(course.exit_code(), Course::kTimeoutCode);
}

TEST(Course, FailureBeforeTheTimeIsOverCounts) {
  Course course = three_ranks(seconds(2));
  course.on_end(1, kCode3, seconds(1));
  (void)course.take_finding();
  course.on_time(seconds(3));
  EXPECT_FALSE(course.take_finding());
  EXPECT_EQ(course.exit_code(), 3);
}

TEST(Course, SecondSignalKills) {
  for (const int first : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Course course = three_ranks();
    course.on_signal(first, seconds(1));
    EXPECT_THAT(course.take_signals(), ElementsAre(first));
    EXPECT_EQ(course.next_time(), kForever) << "ranks may take their time";
    course.on_signal(SIGINT, seconds(2));
    EXPECT_THAT(course.take_signals(), ElementsAre(SIGKILL));
  }
}

TEST(Course, OtherSignalsArePassedOnEachTime) {
  Course course = three_ranks();
  course.on_signal(SIGUSR1, seconds(1));
  course.on_signal(SIGUSR1, seconds(1));
  course.on_signal(SIGINT, seconds(1));
  EXPECT_THAT(course.take_signals(), ElementsAre(SIGUSR1, SIGUSR1, SIGINT));
}

TEST(Course, LastRankThatFailsNamesNoOthers) {
  Course course({{7, {0}}}, seconds(1), kForever);
  course.on_end(0, kCode3, seconds(1));
  EXPECT_EQ(course.take_finding()->message, "rank 0 of 1 (process 7) ended with exit code 3");
}

TEST(Course, RanksOfAProcessAreNamedTogether) {
  Course course({{7, {0, 1}}, {8, {2, 3}}, {9, {4}}}, seconds(1), kForever);
  course.on_end(1, kKilled, seconds(2));
  EXPECT_EQ(course.take_finding()->message,
            "ranks 2-3 of 5 (process 8) were killed by SIGKILL; ending ranks 0-1, 4");
}

TEST(Course, SignalsHaveNames) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(40), "signal 40");
}

}  // namespace
}  // namespace commrig::cli::run
