// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/compare.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/mc2/tiled_matmul.h"
#include "mc2/engine.h"

namespace commrig::operators {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Compare, OverlapCountsTurnsThatBeginBeforeTheSlowestRanksNextProductEnds) {
  const auto turn = [](int time, int slot, int number) {
    return Event{.time = Nanos(time),
                 .name = mc2::kTurnEvent,
                 .phase = Phase::kBegin,
                 .a = slot,
                 .b = number};
  };
  const auto product = [](int time, int rank, int tile) {
    return Event{
        .time = Nanos(time), .name = kTileEvent, .phase = Phase::kEnd, .rank = rank, .a = tile};
  };
  const std::vector<Event> events{product(1, 0, 0), product(2, 1, 0), turn(3, 0, 1),
                                  product(4, 0, 1), product(5, 1, 1), product(6, 0, 2),
                                  product(7, 1, 2), turn(8, 0, 2),    turn(9, 1, 1)};
  EXPECT_DOUBLE_EQ(overlap_of(events, 3), 0.5);
  EXPECT_DOUBLE_EQ(overlap_of(std::span(events).first(6), 3), 0.5);
  EXPECT_DOUBLE_EQ(overlap_of({}, 3), 0);
  EXPECT_DOUBLE_EQ(overlap_of({}, 1), 1);
}

TEST(Compare, OverlapKnowsTurnsByTheirNumberNotByTheirOrder) {
  const auto event = [](int time, const char* name, Phase phase, int a, int b) {
    return Event{.time = Nanos(time), .name = name, .phase = phase, .a = a, .b = b};
  };
  // The last tile, slot 1, is taken first; the turn of tile 0 comes too late.
  const std::vector<Event> events{event(1, kTileEvent, Phase::kEnd, 0, 0),
                                  event(2, kTileEvent, Phase::kEnd, 1, 0),
                                  event(1, mc2::kTurnEvent, Phase::kBegin, 1, 1),
                                  event(3, mc2::kTurnEvent, Phase::kBegin, 0, 1)};
  EXPECT_DOUBLE_EQ(overlap_of(events, 2), 0);
}

TEST(Compare, WrongElementIsFoundWhereverItIs) {
  const Comparison comparison{.type = GoldenType::kFp32, .inner = 3, .columns = 5};
  const std::vector<float> x1(2 * 4 * 3, 0.5F);
  const std::vector<double> x2(3 * 5, 0.25);
  const GoldenMatrix golden = golden_matmul(GoldenType::kFp32, x1.data(), x2, {8, 3, 5});
  std::vector<float> output(8 * 5, 0.375F);
  const std::vector<float> right = output;
  const std::array outputs{RankOutput{right.data(), 0, 8}, RankOutput{output.data(), 0, 8}};
  const Result<WorstElement> good = compare_outputs(comparison, golden, outputs);
  ASSERT_TRUE(good.has_value()) << to_string(good.error());
  EXPECT_EQ(good->error, 0);
  for (const float wrong : {0.3751F, -0.375F, std::numeric_limits<float>::quiet_NaN()}) {
    output[7 * 5 + 2] = wrong;
    const Result<WorstElement> found = compare_outputs(comparison, golden, outputs);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::kWrongResult);
    EXPECT_THAT(found.error().message,
                AllOf(HasSubstr("rank 1, row 7, column 2: expected 0.375 within "),
                      HasSubstr(std::to_string(wrong).substr(0, 3))));
  }
  // Inside its bound, but not what rank 0 has.
  output[7 * 5 + 2] = std::nextafter(0.375F, 1.0F);
  const Result<WorstElement> differs = compare_outputs(comparison, golden, outputs);
  ASSERT_FALSE(differs.has_value());
  EXPECT_EQ(differs.error().message, "rank 1, row 7, column 2: its bits are not those of rank 0");
}

// Ranks that hold different rows are compared with these rows, and not with each other.
TEST(Compare, EachRankIsComparedWithItsOwnRows) {
  const Comparison comparison{.type = GoldenType::kFp32, .inner = 1, .columns = 2};
  const GoldenMatrix golden{{1, 2, 3, 4}, {1, 2, 3, 4}};
  const std::array<float, 2> first{1, 2};
  std::array<float, 2> second{3, 4};
  const std::array outputs{RankOutput{first.data(), 0, 1}, RankOutput{second.data(), 1, 1}};
  EXPECT_TRUE(compare_outputs(comparison, golden, outputs).has_value());
  second = {1, 2};
  const Result<WorstElement> found = compare_outputs(comparison, golden, outputs);
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("rank 1, row 0, column 0: expected 3"));
}

}  // namespace
}  // namespace commrig::operators
