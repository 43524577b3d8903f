// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/plan.h"

#include <cstddef>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coll/blocks.h"

namespace commrig::coll {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

Code code_of(const Request& request) {
  const Status status = check(request);
  EXPECT_FALSE(status);
  return status ? Code::kAborted : status.error().code;
}

TEST(Collectives, AreParsedByTheNamesTheyPrint) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(parse_collective(name(collective)).value(), collective);
  }
  const auto unknown = parse_collective("allreduce");
  EXPECT_EQ(unknown.error().code, Code::kUnknownCollective);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"allreduce\"; expected one of all-reduce, "));
}

TEST(Requests, WithABadRankCountOrRootAreRefused) {
  EXPECT_EQ(code_of({.ranks = 0}), Code::kCollectiveRanks);
  EXPECT_EQ(code_of({.ranks = -4}), Code::kCollectiveRanks);
  EXPECT_EQ(code_of({.ranks = kRanksMax + 1}), Code::kCollectiveRanks);
  EXPECT_EQ(code_of({.collective = Collective::kGather, .ranks = 3, .root = 3}),
            Code::kCollectiveRoot);
  EXPECT_EQ(code_of({.collective = Collective::kReduce, .ranks = 3, .root = -1}),
            Code::kCollectiveRoot);
  EXPECT_TRUE(check({.collective = Collective::kAllReduce, .ranks = 3, .root = 7}))
      << "an all-reduce has no root";
}

TEST(Requests, WithTheWrongNumberOfCountsAreRefused) {
  EXPECT_EQ(code_of({.collective = Collective::kAllGatherV, .ranks = 3, .counts = {1, 2}}),
            Code::kCollectiveCounts);
  EXPECT_EQ(code_of({.collective = Collective::kAllToAllV, .ranks = 3, .counts = {1, 2, 3}}),
            Code::kCollectiveCounts);
  EXPECT_EQ(code_of({.collective = Collective::kAllGather, .ranks = 2, .counts = {1, 2}}),
            Code::kCollectiveCounts);
  EXPECT_TRUE(check({.collective = Collective::kGatherV, .ranks = 3, .counts = {1, 0, 2}}));
}

TEST(Requests, ThatNoAddressCanReachAreRefused) {
  EXPECT_EQ(code_of({.ranks = 1, .element_bytes = 0}), Code::kCollectiveSize);
  EXPECT_EQ(code_of({.ranks = 2, .count = kMost / 4, .element_bytes = 8}), Code::kCollectiveSize);
  EXPECT_EQ(code_of({.collective = Collective::kAllGather, .ranks = 1024, .count = kMost / 1024}),
            Code::kCollectiveSize);
  EXPECT_EQ(code_of({.collective = Collective::kScatterV, .ranks = 2, .counts = {kMost, 2}}),
            Code::kCollectiveSize);
  EXPECT_TRUE(check({.ranks = 2, .count = std::size_t{1} << 40, .element_bytes = 8}));
}

TEST(Requests, SayWhatEachRankGivesAndGets) {
  const Request gather{
      .collective = Collective::kGatherV, .ranks = 3, .root = 1, .counts = {4, 0, 5}};
  EXPECT_EQ(input_count(gather, 2), 5U);
  EXPECT_EQ(output_count(gather, 1), 9U);
  EXPECT_EQ(output_count(gather, 0), 0U);
  const Request exchange{.collective = Collective::kAllToAllV, .ranks = 2, .counts = {1, 2, 3, 4}};
  EXPECT_EQ(input_count(exchange, 0), 3U);
  EXPECT_EQ(output_count(exchange, 0), 4U);
  EXPECT_EQ(sent_range(exchange, 1, 1), (Range{3, 4}));
  EXPECT_EQ(received_range(exchange, 1, 1), (Range{2, 4}));
  const Request broadcast{.collective = Collective::kBroadcast, .ranks = 2, .root = 1, .count = 3};
  EXPECT_EQ(input_count(broadcast, 0), 0U);
  EXPECT_EQ(input_count(broadcast, 1), 3U);
  EXPECT_EQ(output_count(broadcast, 1), 3U);
}

TEST(Requests, InPlaceLayTheSmallerBufferAtTheRanksOwnBlock) {
  const Request gather{
      .collective = Collective::kAllGather, .ranks = 4, .count = 5, .in_place = true};
  const Place input = overlay(gather, 2).resolve({Buffer::kInput, 2, 1});
  EXPECT_EQ(input.buffer, Buffer::kOutput);
  EXPECT_EQ(input.offset, 11U);
  const Request scatter{
      .collective = Collective::kReduceScatterV, .ranks = 3, .in_place = true, .counts = {1, 2, 3}};
  const Place output = overlay(scatter, 2).resolve({Buffer::kOutput, 2, 0});
  EXPECT_EQ(output.buffer, Buffer::kInput);
  EXPECT_EQ(output.offset, 3U);
  const Request reduce{
      .collective = Collective::kReduce, .ranks = 2, .root = 1, .count = 1, .in_place = true};
  EXPECT_TRUE(overlay(reduce, 1).exists);
  EXPECT_FALSE(overlay(reduce, 0).exists) << "others than the root have an input only";
}

TEST(Blocks, SliceUnevenlyWithTheLargerOnesFirst) {
  const Blocks slices = Blocks::slices(11, 4);
  EXPECT_EQ(slices[0], (Range{0, 3}));
  EXPECT_EQ(slices[2], (Range{6, 3}));
  EXPECT_EQ(slices[3], (Range{9, 2}));
  EXPECT_EQ(slices.total(), 11U);
  const Circle circle(slices, 3);
  EXPECT_EQ(circle.range(0, 1), (Range{0, 2}));
  EXPECT_EQ(circle.range(1, 3), (Range{2, 6}));
}

}  // namespace
}  // namespace commrig::coll
