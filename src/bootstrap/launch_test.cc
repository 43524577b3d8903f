// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/launch.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::bootstrap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Variables = std::map<std::string, std::string, std::less<>>;

Result<std::optional<Launch>> read(const Variables& variables) {
  return read_launch([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

const Variables kTorchrun{{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "node7"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RUN_ID", "r1"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(Launch, NothingSetIsNoLaunch) {
  const auto launch = read({});
  ASSERT_TRUE(launch);
  EXPECT_FALSE(launch->has_value());
}

TEST(Launch, EachLauncherIsRead) {
  struct Case {
    const char* launcher;
    Variables variables;
    int local_rank;
    int local_ranks;
  };
  for (const Case& each :
       {Case{"commrig", {{"COMMRIG_RANK", "5"}, {"COMMRIG_RANKS", "8"}}, -1, -1},
        Case{"torchrun", kTorchrun, 1, 4},
        Case{"Open MPI",
             {{"OMPI_COMM_WORLD_RANK", "5"},
              {"OMPI_COMM_WORLD_SIZE", "8"},
              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
             1,
             2},
        Case{"PMI", {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}, -1, -1},
        Case{"Slurm",
             {{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "3"}},
             3,
             -1}}) {
    const auto launch = read(each.variables);
    ASSERT_TRUE(launch && launch->has_value()) << each.launcher;
    EXPECT_EQ((*launch)->launcher, each.launcher);
    EXPECT_EQ((*launch)->rank, 5);
    EXPECT_EQ((*launch)->ranks, 8);
    EXPECT_EQ((*launch)->local_rank, each.local_rank);
    EXPECT_EQ((*launch)->local_ranks, each.local_ranks);
  }
}

TEST(Launch, HalfSetOrMalformedVariablesAreNamedWithTheirValues) {
  struct Case {
    Variables variables;
    const char* first;
    const char* second;
  };
  for (const Case& each :
       {Case{{{"RANK", "1"}}, "RANK=1", "WORLD_SIZE is not set"},
        Case{{{"WORLD_SIZE", "4"}}, "WORLD_SIZE=4", "RANK is not set"},
        Case{{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "RANK=4", "WORLD_SIZE=4"},
        Case{{{"RANK", "x"}, {"WORLD_SIZE", "4"}}, "RANK=\"x\"", "a number from 0"},
        Case{{{"RANK", ""}, {"WORLD_SIZE", "4"}}, "RANK=\"\"", "a number from 0"},
        Case{{{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "RANK=\"-1\"", "a number from 0"},
        Case{{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "WORLD_SIZE=\"0\"", "a number from 1"},
        Case{{{"PMI_RANK", "0"}}, "PMI_RANK=0", "PMI_SIZE is not set"},
        Case{with(kTorchrun, {{"LOCAL_RANK", "4"}}), "LOCAL_RANK=\"4\"", "from 0 to 3"},
        Case{with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}}), "LOCAL_WORLD_SIZE=\"9\"", "from 1 to 8"},
        Case{with(kTorchrun, {{"MASTER_PORT", "0"}}), "MASTER_PORT=\"0\"", "from 1 to 65535"},
        Case{with(kTorchrun, {{"COMMRIG_PORT", "29500"}}), "COMMRIG_PORT=29500", "MASTER_PORT"},
        Case{{{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}},
             "MASTER_ADDR=a",
             "MASTER_PORT is not set"}}) {
    const auto launch = read(each.variables);
    ASSERT_FALSE(launch) << each.first;
    EXPECT_EQ(launch.error().code, Code::kLaunchEnvironment);
    EXPECT_THAT(launch.error().message, AllOf(HasSubstr(each.first), HasSubstr(each.second)));
  }
}

TEST(Launch, LaunchersThatContradictEachOtherAreNamed) {
  const Variables variables{{"RANK", "1"},
                            {"WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_SIZE", "4"}};
  const auto launch = read(variables);
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.error().message,
            "torchrun says RANK=1 WORLD_SIZE=4, Open MPI says OMPI_COMM_WORLD_RANK=2 "
            "OMPI_COMM_WORLD_SIZE=4");
  EXPECT_TRUE(read(with(variables, {{"RANK", "2"}})));
}

TEST(Launch, OuterLaunchersMayDiffer) {
  const Variables slurm{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}};
  const Variables mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  EXPECT_EQ((*read(with(mpi, slurm)))->rank, 1);
  EXPECT_EQ((*read(with(with(kTorchrun, mpi), slurm)))->ranks, 8);
  EXPECT_EQ((*read(with(kTorchrun, {{"COMMRIG_RANK", "0"}, {"COMMRIG_RANKS", "2"}})))->ranks, 2);
  // A shell of salloc has the number of tasks only.
  EXPECT_FALSE(read({{"SLURM_NTASKS", "2"}})->has_value());
}

TEST(Launch, IdIsReadAndCheckedWithItsVariable) {
  const Variables ranks{{"COMMRIG_RANK", "0"}, {"COMMRIG_RANKS", "2"}};
  const auto launch = read(with(ranks, {{"COMMRIG_ID", "0000000000000007@127.0.0.1:80"}}));
  EXPECT_EQ((*launch)->id->magic(), 7U);
  const auto bad = read(with(ranks, {{"COMMRIG_ID", "7"}}));
  EXPECT_EQ(bad.error().code, Code::kBadUniqueId);
  EXPECT_THAT(bad.error().message, HasSubstr("COMMRIG_ID: "));
}

TEST(Launch, MeetingIsTheSameForAllRanksOfOneRunAndNotOnTheMastersPort) {
  const auto meeting = [](const Variables& more) {
    return *(*read(with(kTorchrun, more)))->meeting;
  };
  const Meeting zero = meeting({{"RANK", "0"}, {"LOCAL_RANK", "0"}});
  const Meeting five = meeting({});
  EXPECT_EQ(zero.host, "node7");
  EXPECT_EQ(zero.port, five.port);
  EXPECT_EQ(zero.magic, five.magic);
  for (const Variables& other : {Variables{{"MASTER_PORT", "29501"}},
                                 {{"MASTER_ADDR", "node8"}},
                                 {{"WORLD_SIZE", "9"}},
                                 {{"TORCHELASTIC_RUN_ID", "r2"}},
                                 {{"TORCHELASTIC_RESTART_COUNT", "1"}}}) {
    EXPECT_NE(meeting(other).magic, five.magic);
  }
  for (int port = 20000; port < 30000; ++port) {
    const Meeting each = meeting({{"MASTER_PORT", std::to_string(port)}});
    ASSERT_GE(each.port, 20000);
    ASSERT_LT(each.port, 30000);
    ASSERT_NE(each.port, port);
  }
  EXPECT_EQ(meeting({{"COMMRIG_PORT", "4242"}}).port, 4242);
}

TEST(Launch, RanksOfOneHostMeetByTheNameOfTheJob) {
  const Variables mpi{{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "4"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                      {"PMIX_NAMESPACE", "956497921"}};
  const auto meeting = [](const Variables& variables) { return (*read(variables))->meeting; };
  const auto one = meeting(mpi);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->host, "127.0.0.1");
  const auto zero = meeting(with(mpi, {{"OMPI_COMM_WORLD_RANK", "0"}}));
  EXPECT_EQ(zero->port, one->port);
  EXPECT_EQ(zero->magic, one->magic);
  EXPECT_NE(meeting(with(mpi, {{"PMIX_NAMESPACE", "956497922"}}))->magic, one->magic);
  EXPECT_EQ(meeting(with(mpi, {{"COMMRIG_PORT", "4242"}}))->port, 4242);
  EXPECT_EQ(meeting(with(mpi, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "80"}}))->host, "a");
  const Variables slurm{{"SLURM_PROCID", "1"},
                        {"SLURM_NTASKS", "2"},
                        {"SLURM_JOB_ID", "7"},
                        {"SLURM_STEP_ID", "0"},
                        {"SLURM_STEP_NUM_NODES", "1"}};
  ASSERT_TRUE(meeting(slurm));
  EXPECT_NE(meeting(slurm)->magic, meeting(with(slurm, {{"SLURM_STEP_ID", "1"}}))->magic);
  // On several hosts, or without a name, there is no such place.
  EXPECT_FALSE(meeting(with(slurm, {{"SLURM_STEP_NUM_NODES", "2"}})));
  EXPECT_FALSE(meeting(with(mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})));
  EXPECT_FALSE(meeting(with(mpi, {{"PMIX_NAMESPACE", ""}})));
  EXPECT_FALSE(meeting({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}}));
}

TEST(Launch, MeetingIsFoundByNameOrRefusedWithIt) {
  EXPECT_EQ(find_meeting({"127.0.0.1", 77, 9})->to_string(), "0000000000000009@127.0.0.1:77");
  const auto nowhere = find_meeting({"", 77, 9});
  EXPECT_EQ(nowhere.error().code, Code::kLaunchEnvironment);
}

}  // namespace
}  // namespace commrig::bootstrap
