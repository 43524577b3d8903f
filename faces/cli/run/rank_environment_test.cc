// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/rank_environment.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/launch.h"

namespace commrig::cli::run {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

constexpr JobPlace kJob{.ranks = 4, .master_port = 29500, .port = 31000, .seed = 17};

std::optional<std::string> value_of(const Variables& variables, std::string_view name) {
  for (const std::string& each : variables) {
    if (each.starts_with(std::string(name) + "=")) return each.substr(name.size() + 1);
  }
  return std::nullopt;
}

TEST(RankEnvironment, EveryConventionSaysTheRank) {
  const Variables variables = rank_environment({"HOME=/root"}, kJob, 2);
  for (const char* const each :
       {"HOME=/root", "RANK=2", "LOCAL_RANK=2", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=4",
        "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_LOCAL_RANK=2", "OMPI_COMM_WORLD_SIZE=4",
        "OMPI_COMM_WORLD_LOCAL_SIZE=4", "COMMRIG_RANK=2", "COMMRIG_RANKS=4", "COMMRIG_LOCAL_RANK=2",
        "COMMRIG_LOCAL_RANKS=4", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500", "COMMRIG_PORT=31000",
        "COMMRIG_SEED=17"}) {
    EXPECT_THAT(variables, Contains(each));
  }
  EXPECT_THAT(variables, Each(Not(StartsWith("COMMRIG_DEVICES"))));
}

TEST(RankEnvironment, IsWhatRanksRead) {
  // An outer launcher of another size does not confuse them.
  const Variables outer{"RANK=7",          "WORLD_SIZE=9",          "PMI_RANK=1",
                        "PMI_SIZE=2",      "SLURM_PROCID=0",        "SLURM_NTASKS=1",
                        "COMMRIG_ID=junk", "TORCHELASTIC_RUN_ID=r", "OMPI_COMM_WORLD_RANK=3"};
  const Variables variables = rank_environment(outer, kJob, 1);
  const auto launch =
      bootstrap::read_launch([&](std::string_view name) { return value_of(variables, name); });
  ASSERT_TRUE(launch) << launch.error().message;
  ASSERT_TRUE(launch->has_value());
  EXPECT_EQ((*launch)->launcher, "commrig");
  EXPECT_EQ((*launch)->rank, 1);
  EXPECT_EQ((*launch)->ranks, 4);
  EXPECT_EQ((*launch)->local_rank, 1);
  EXPECT_EQ((*launch)->local_ranks, 4);
  EXPECT_FALSE((*launch)->id);
  ASSERT_TRUE((*launch)->meeting);
  EXPECT_EQ((*launch)->meeting->host, "127.0.0.1");
  EXPECT_EQ((*launch)->meeting->port, 31000);
}

TEST(RankEnvironment, DevicesAreSetWhereTheyAreAskedFor) {
  JobPlace job = kJob;
  job.devices = 3;
  EXPECT_THAT(rank_environment({"COMMRIG_DEVICES=9"}, job, 0), Contains("COMMRIG_DEVICES=3"));
  EXPECT_THAT(rank_environment({"COMMRIG_DEVICES=9"}, kJob, 0), Contains("COMMRIG_DEVICES=9"));
}

TEST(RankEnvironment, EachVariableIsThereOnce) {
  Variables variables = rank_environment({"RANK=1", "RANK=2", "RANKS=3"}, kJob, 0);
  EXPECT_EQ(std::ranges::count_if(variables, [](auto& v) { return v.starts_with("RANK="); }), 1);
  EXPECT_THAT(variables, Contains("RANKS=3"));
}

TEST(LibraryFolders, StandInFront) {
  Variables variables{"LD_LIBRARY_PATH=/old:/older"};
  add_library_folders(variables, {"/a", "/b"});
  EXPECT_THAT(variables, ElementsAre("LD_LIBRARY_PATH=/a:/b:/old:/older"));
}

TEST(LibraryFolders, EmptyPathsMakeNoEmptyEntries) {
  Variables variables{"LD_LIBRARY_PATH="};
  add_library_folders(variables, {"/a"});
  EXPECT_THAT(variables, ElementsAre("LD_LIBRARY_PATH=/a"));
  Variables none{"X=1"};
  add_library_folders(none, {});
  EXPECT_THAT(none, ElementsAre("X=1"));
}

}  // namespace
}  // namespace commrig::cli::run
