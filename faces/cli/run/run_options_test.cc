// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/run_options.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<RunOptions> read(const RunArguments& arguments,
                        const std::map<std::string, std::string, std::less<>>& variables = {}) {
  return understand(arguments, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(SplitCommand, ProgramBeginsWithTheFirstWordThatIsNoOption) {
  const Split split = split_command({"-n", "4", "--tag", "--timeout", "3s", "./prog", "-n", "5"});
  EXPECT_THAT(split.options, ElementsAre("-n", "4", "--tag", "--timeout", "3s"));
  EXPECT_THAT(split.program, ElementsAre("./prog", "-n", "5"));
}

TEST(SplitCommand, ProgramBeginsBehindTheFirstDashes) {
  const Split split = split_command({"-n4", "--devices=2", "--", "-prog", "--", "--help"});
  EXPECT_THAT(split.options, ElementsAre("-n4", "--devices=2"));
  EXPECT_THAT(split.program, ElementsAre("-prog", "--", "--help"));
}

TEST(SplitCommand, DashesOfTheProgramAreItsOwn) {
  EXPECT_THAT(split_command({"prog", "--", "x"}).program, ElementsAre("prog", "--", "x"));
}

TEST(SplitCommand, NothingIsNoProgram) {
  EXPECT_THAT(split_command({}).program, IsEmpty());
  EXPECT_THAT(split_command({"-n"}).program, IsEmpty());
  EXPECT_THAT(split_command({"-n", "--"}).program, IsEmpty());
}

TEST(ParseDuration, ReadsUnits) {
  using namespace std::chrono_literals;
  EXPECT_EQ(*parse_duration("--timeout", "30"), 30s);
  EXPECT_EQ(*parse_duration("--timeout", "30s"), 30s);
  EXPECT_EQ(*parse_duration("--timeout", "1.5m"), 90s);
  EXPECT_EQ(*parse_duration("--timeout", "2h"), 2h);
  EXPECT_EQ(*parse_duration("--timeout", "250ms"), 250ms);
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "s", "0", "0s", "-1s", "1 s", "1d", "1e3s", "inf", "nan", "1s2",
                           "99999999999h", "+1s", "0x1s"}) {
    const auto duration = parse_duration("--timeout", text);
    ASSERT_FALSE(duration) << text;
    EXPECT_THAT(duration.error().message, HasSubstr("--timeout is \""));
  }
}

TEST(RunOptionsTest, OneRankHasNoTags) {
  const auto options = read({.program = {"prog"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->ranks, 1);
  EXPECT_FALSE(options->tags);
  EXPECT_FALSE(options->inside);
  EXPECT_EQ(options->timeout, kForever);
  EXPECT_FALSE(options->devices);
}

TEST(RunOptionsTest, TagsAreChosen) {
  EXPECT_TRUE(read({.ranks = "2", .program = {"prog"}})->tags);
  EXPECT_TRUE(read({.tag = true, .program = {"prog"}})->tags);
  EXPECT_FALSE(read({.ranks = "2", .no_tag = true, .program = {"prog"}})->tags);
}

TEST(RunOptionsTest, InsideALauncherNothingIsStartedTwice) {
  const std::map<std::string, std::string, std::less<>> mpirun{{"OMPI_COMM_WORLD_RANK", "1"},
                                                               {"OMPI_COMM_WORLD_SIZE", "2"}};
  EXPECT_TRUE(read({.program = {"prog"}}, mpirun)->inside);
  const auto twice = read({.ranks = "2", .program = {"prog"}}, mpirun);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("Open MPI has started this as rank 1 of 2"));
  EXPECT_FALSE(read({.timeout = "3s", .program = {"prog"}}, mpirun));
}

TEST(RunOptionsTest, ASeedThatIsNoNumberIsNamed) {
  const auto options = read({.program = {"prog"}}, {{"COMMRIG_SEED", "zz"}});
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message, HasSubstr("COMMRIG_SEED is \"zz\""));
  EXPECT_TRUE(read({.program = {"prog"}}, {{"COMMRIG_SEED", "18446744073709551615"}}));
}

TEST(RunOptionsTest, ABatchScriptOfSlurmStartsRanks) {
  const std::map<std::string, std::string, std::less<>> slurm{{"SLURM_PROCID", "0"},
                                                              {"SLURM_NTASKS", "1"}};
  const auto options = read({.ranks = "4", .program = {"prog"}}, slurm);
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->inside);
}

TEST(RunOptionsTest, MistakesAreNamed) {
  const auto message = [](const RunArguments& arguments) {
    const auto options = read(arguments);
    return options ? std::string("no mistake") : options.error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("no program"));
  EXPECT_THAT(message({.program = {""}}), HasSubstr("no program"));
  EXPECT_THAT(message({.ranks = "0", .program = {"p"}}), HasSubstr("--ranks is \"0\""));
  EXPECT_THAT(message({.ranks = "1025", .program = {"p"}}), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(message({.devices = "x", .program = {"p"}}), HasSubstr("--devices is \"x\""));
  EXPECT_THAT(message({.timeout = "x", .program = {"p"}}), HasSubstr("--timeout is \"x\""));
  EXPECT_THAT(message({.tag = true, .no_tag = true, .program = {"p"}}), HasSubstr("--no-tag"));
  const auto half = read({.program = {"p"}}, {{"RANK", "1"}});
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, Code::kLaunchEnvironment);
}

}  // namespace
}  // namespace commrig::cli::run
