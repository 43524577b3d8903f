// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/all_gather_matmul.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/mc2/golden.h"
#include "examples/mc2/run.h"
#include "mc2/server.h"

namespace commrig::operators {
namespace {

using dtype::Dtype;
using testing::AllOf;
using testing::HasSubstr;

class OperatorTest : public testing::TestWithParam<std::tuple<int, std::string>> {};

TEST_P(OperatorTest, EveryElementIsInsideItsBoundForOddShapesAndTails) {
  struct Case {
    MatmulShape shape;
    std::size_t tile_rows;
  };
  constexpr Case kCases[] = {{{1, 1, 1}, 1},     {{7, 5, 3}, 2},    {{33, 17, 9}, 8},
                             {{64, 32, 48}, 16}, {{5, 64, 1}, 100}, {{12, 1, 31}, 1}};
  const auto& [ranks, layout] = GetParam();
  for (const Case& each : kCases) {
    for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
      const Result<RunReport> report = run_all_gather_matmul({.ranks = ranks,
                                                              .shape = each.shape,
                                                              .dtype = dtype,
                                                              .layout = layout,
                                                              .tile_rows = each.tile_rows});
      ASSERT_TRUE(report.has_value()) << to_string(report.error());
      const std::size_t tiles = (each.shape.m + each.tile_rows - 1) / each.tile_rows;
      EXPECT_EQ(report->tiles, tiles);
      EXPECT_EQ(report->turns, tiles);
      EXPECT_TRUE(report->worst.inside());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RanksAndLayouts, OperatorTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 7, 8),
                                          testing::Values("upstream-64", "readme-112")),
                         [](const auto& parameter) {
                           std::string name = std::get<1>(parameter.param);
                           std::erase(name, '-');
                           return name + "x" + std::to_string(std::get<0>(parameter.param));
                         });

TEST(Operator, MoreTilesThanOneMessageHasTurnsTakeSeveralMessages) {
  const Result<RunReport> report =
      run_all_gather_matmul({.ranks = 2, .shape = {601, 3, 2}, .tile_rows = 1});
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->turns, 601U);
  EXPECT_EQ(report->messages, 2U * 3);
}

TEST(Operator, CountsTilesAndTheMessagesThatCarryThem) {
  EXPECT_EQ(tiles_of(8, 8), 1U);
  EXPECT_EQ(tiles_of(9, 8), 2U);
  EXPECT_EQ(tiles_of(7, SIZE_MAX), 1U);
  EXPECT_EQ(messages_of(255, 1), 1U);
  EXPECT_EQ(messages_of(256, 1), 2U);
  EXPECT_EQ(messages_of(255 * 3 + 2, 3), 2U);
  EXPECT_EQ(messages_of(7, SIZE_MAX), 1U);
}

TEST(Operator, MoreTilesThanAllMessagesHaveTurnsAreRefusedBeforeAnythingRuns) {
  const mc2::Layout& layout = **mc2::find_layout("upstream-64");
  EXPECT_TRUE(check_tiles(255 * 63, 1, layout).has_value());
  EXPECT_FALSE(check_tiles(255 * 63 + 1, 1, layout).has_value());
  EXPECT_TRUE(check_tiles(255 * 63 + 1, 2, layout).has_value());
  const Result<RunReport> report =
      run_all_gather_matmul({.ranks = 3, .shape = {255 * 63 + 1, 1, 1}, .tile_rows = 1});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, Code::kBadArgument);
  EXPECT_THAT(report.error().message, AllOf(HasSubstr("16066 tiles"), HasSubstr("64 messages"),
                                            HasSubstr("tiles of 2 rows")));
}

TEST(Operator, AnObserverSeesEachTileOfEachRankBeginAndEnd) {
  EventRecorder recorder;
  const Result<RunReport> report = run_all_gather_matmul(
      {.ranks = 3, .shape = {7, 2, 2}, .tile_rows = 3, .observer = &recorder});
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  std::map<std::tuple<int, std::int64_t, Phase>, int> seen;
  for (const Event& event : recorder.events()) {
    if (std::string_view(event.name) == kTileEvent) ++seen[{event.rank, event.a, event.phase}];
  }
  EXPECT_EQ(seen.size(), 3U * 3 * 2);
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1);
}

// With other tiles the matrix library may add in another order.
TEST(Operator, SameSeedAndTilesGiveTheSameBitsInEveryLayout) {
  const RunOptions options{
      .ranks = 3, .shape = {40, 30, 20}, .dtype = Dtype::kFp32, .tile_rows = 7};
  RunOptions other = options;
  other.layout = "readme-112";
  const Result<RunReport> first = run_all_gather_matmul(options);
  const Result<RunReport> second = run_all_gather_matmul(other);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->worst.found, second->worst.found);
  EXPECT_EQ(first->worst.error, second->worst.error);
}

// Enough work in each tile that a turn is short against it.
RunOptions heavy() {
#if defined(COMMRIG_SANITIZED)
  return {.ranks = 2, .shape = {64, 1024, 256}, .dtype = Dtype::kFp32, .tile_rows = 8};
#else
  return {.ranks = 2, .shape = {1024, 2048, 256}, .dtype = Dtype::kFp32, .tile_rows = 128};
#endif
}

// The rank that commits a turn last performs it, before it goes on to its next product.
TEST(Operator, TurnsStartBeforeTheProductOfTheNextTileHasEnded) {
  const Result<RunReport> report = run_all_gather_matmul(heavy());
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_GE(report->overlap, 0.8);
}

// No turn can begin before the last product of every rank has ended, on whatever machine.
TEST(Operator, CommitsMovedToTheEndNeverOverlap) {
  RunOptions options = heavy();
  options.commit_at_end = true;
  const Result<RunReport> report = run_all_gather_matmul(options);
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->overlap, 0);
}

TEST(Operator, OverlapCountsTurnsThatBeginBeforeTheSlowestRanksNextProductEnds) {
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

TEST(Operator, OverlapKnowsTurnsByTheirNumberNotByTheirOrder) {
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

TEST(Operator, WrongElementIsFoundWhereverItIs) {
  const RunOptions options{.ranks = 2, .shape = {4, 3, 5}, .dtype = Dtype::kFp32};
  const std::vector<float> x1(2 * 4 * 3, 0.5F);
  const std::vector<float> x2(3 * 5, 0.25F);
  const GoldenMatrix golden = golden_matmul(GoldenType::kFp32, x1.data(), x2.data(), 8, 3, 5);
  std::vector<float> output(8 * 5, 0.375F);
  const std::vector<float> right = output;
  const std::vector<const void*> outputs{right.data(), output.data()};
  const Result<WorstElement> good = compare_outputs(options, golden, outputs);
  ASSERT_TRUE(good.has_value()) << to_string(good.error());
  EXPECT_EQ(good->error, 0);
  for (const float wrong : {0.3751F, -0.375F, std::numeric_limits<float>::quiet_NaN()}) {
    output[7 * 5 + 2] = wrong;
    const Result<WorstElement> found = compare_outputs(options, golden, outputs);
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::kWrongResult);
    EXPECT_THAT(found.error().message,
                AllOf(HasSubstr("rank 1, row 7, column 2: expected 0.375 within "),
                      HasSubstr(std::to_string(wrong).substr(0, 3))));
  }
  // Inside its bound, but not what rank 0 has.
  output[7 * 5 + 2] = std::nextafter(0.375F, 1.0F);
  const Result<WorstElement> differs = compare_outputs(options, golden, outputs);
  ASSERT_FALSE(differs.has_value());
  EXPECT_EQ(differs.error().message, "rank 1, row 7, column 2: its bits are not those of rank 0");
}

TEST(Operator, BadOptionsAreErrorsThatNameThem) {
  const auto code = [](const RunOptions& options) {
    return run_all_gather_matmul(options).error().code;
  };
  EXPECT_EQ(code({.ranks = 0}), Code::kRankCount);
  EXPECT_EQ(code({.ranks = 257}), Code::kRankCount);
  EXPECT_EQ(code({.shape = {0, 1, 1}}), Code::kBadArgument);
  EXPECT_EQ(code({.shape = {1, SIZE_MAX, 1}}), Code::kBadArgument);
  EXPECT_EQ(code({.shape = {1U << 20U, 1U << 20U, 1}}), Code::kBadArgument);
  EXPECT_EQ(code({.dtype = Dtype::kInt8}), Code::kBadArgument);
  EXPECT_EQ(code({.layout = "upstream-65"}), Code::kUnknownLayout);
}

}  // namespace
}  // namespace commrig::operators
