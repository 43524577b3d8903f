// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/bench_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli::bench {
namespace {

constexpr std::size_t kMemory = std::size_t{1} << 30U;

std::vector<std::size_t> sizes(const BenchArguments& arguments) {
  const Result<BenchOptions> options = understand(arguments, kMemory);
  EXPECT_TRUE(options.has_value()) << to_string(options.error());
  std::vector<std::size_t> all;
  for (const Load& load : options->loads) all.push_back(load.size());
  return all;
}

TEST(BenchOptionsTest, SizesHaveUnitsOf1024) {
  EXPECT_EQ(parse_size("-b", "8").value(), 8U);
  EXPECT_EQ(parse_size("-b", "3K").value(), 3072U);
  EXPECT_EQ(parse_size("-b", "2MiB").value(), std::size_t{2} << 20U);
  EXPECT_EQ(parse_size("-b", "1G").value(), std::size_t{1} << 30U);
  EXPECT_EQ(parse_size("-b", "17179869183G").value(), 17179869183U << 30U);
  for (const char* const text : {"", "K", "0", "-1", "8k", "8T", "1.5M", "8 K", "17179869184G"}) {
    EXPECT_FALSE(parse_size("-b", text)) << text;
  }
}

TEST(BenchOptionsTest, SizesGoFromLeastToMost) {
  BenchArguments arguments{.least = "8", .most = "100", .factor = "3"};
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(8, 24, 72));
  arguments.most = "72";
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(8, 24, 72));
  arguments.most = "71";
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(8, 24));
  arguments = {.least = "8", .most = "8"};
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(8));
}

TEST(BenchOptionsTest, BlocksAreCutToTheSameSizeForEachRankAndNoneIsMeasuredTwice) {
  BenchArguments arguments{.operation = "all-gather", .ranks = "3", .least = "8", .most = "26"};
  arguments.factor = "2";
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(12));
  EXPECT_THAT(understand(arguments, kMemory)->note, testing::HasSubstr("below 12 bytes"));
  arguments.dtype = "int8";
  EXPECT_THAT(sizes(arguments), testing::ElementsAre(6, 15));
}

TEST(BenchOptionsTest, BuffersThatDoNotFitIntoMemoryAreRefused) {
  BenchArguments arguments{.ranks = "4", .least = "8", .most = "64M"};
  EXPECT_TRUE(understand(arguments, kMemory));  // 4 ranks, two buffers each: half of it
  arguments.most = "128M";
  EXPECT_FALSE(understand(arguments, kMemory));
}

TEST(BenchOptionsTest, ProcessesAreNoMoreThanRanks) {
  BenchArguments arguments{.ranks = "4", .processes = "4", .most = "8"};
  EXPECT_EQ(understand(arguments, kMemory)->processes, 4);
  for (const char* const text : {"0", "5", "x", ""}) {
    arguments.processes = text;
    EXPECT_THAT(understand(arguments, kMemory).error().message,
                testing::HasSubstr("--processes is \"" + std::string(text) + "\""));
  }
}

TEST(BenchOptionsTest, LinkIsOneOfTwo) {
  BenchArguments arguments{.link = "tcp", .most = "8"};
  EXPECT_TRUE(understand(arguments, kMemory)->communicator.team.tcp_between_processes);
  arguments.link = "shm";
  EXPECT_FALSE(understand(arguments, kMemory)->communicator.team.tcp_between_processes);
  arguments.link = "ib";
  EXPECT_THAT(understand(arguments, kMemory).error().message, testing::HasSubstr("--link is"));
}

}  // namespace
}  // namespace commrig::cli::bench
