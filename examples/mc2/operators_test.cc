// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/operators.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/mc2/run.h"

namespace commrig::operators {
namespace {

using dtype::Dtype;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorInfo& op : all_operators()) names.emplace_back(op.name);
  return names;
}

std::string letters_of(std::string name) {
  std::erase(name, '-');
  return name;
}

class OperatorTest : public testing::TestWithParam<std::tuple<std::string, int, std::string>> {};

// M is what each rank's tiles are cut from: of all ranks together where the operator scatters.
TEST_P(OperatorTest, EveryElementIsInsideItsBoundForOddShapesAndTails) {
  struct Case {
    MatmulShape shape;
    std::size_t tile_rows;
  };
  constexpr Case kCases[] = {{{1, 1, 1}, 1},     {{7, 5, 3}, 2},    {{33, 17, 9}, 8},
                             {{64, 32, 48}, 16}, {{5, 64, 1}, 100}, {{12, 1, 31}, 1}};
  const auto& [op, ranks, layout] = GetParam();
  for (const Case& each : kCases) {
    for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
      MatmulShape shape = each.shape;
      if (find_operator(op)->splits_inner) shape.m *= static_cast<std::size_t>(ranks);
      const Result<RunReport> report = run_operator({.op = op,
                                                     .ranks = ranks,
                                                     .devices = (ranks + 1) / 2,
                                                     .shape = shape,
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

INSTANTIATE_TEST_SUITE_P(All, OperatorTest,
                         testing::Combine(testing::ValuesIn(operator_names()),
                                          testing::Values(1, 2, 3, 4, 5, 7, 8),
                                          testing::Values("upstream-64", "readme-112")),
                         [](const auto& parameter) {
                           return letters_of(std::get<0>(parameter.param)) + "_" +
                                  letters_of(std::get<2>(parameter.param)) + "x" +
                                  std::to_string(std::get<1>(parameter.param));
                         });

TEST(Operator, MoreTilesThanOneMessageHasTurnsTakeSeveralMessages) {
  const Result<RunReport> report = run_operator({.ranks = 2, .shape = {601, 3, 2}, .tile_rows = 1});
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->turns, 601U);
  EXPECT_EQ(report->messages, 2U * 3);
}

TEST(Operator, MoreTilesThanAllMessagesHaveTurnsAreRefusedBeforeAnythingRuns) {
  const Result<RunReport> report =
      run_operator({.ranks = 3, .shape = {255 * 63 + 1, 1, 1}, .tile_rows = 1});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, Code::kBadArgument);
  EXPECT_THAT(report.error().message, AllOf(HasSubstr("16066 tiles"), HasSubstr("64 messages"),
                                            HasSubstr("tiles of 2 rows")));
}

TEST(Operator, AnObserverSeesEachTileOfEachRankBeginAndEnd) {
  EventRecorder recorder;
  const Result<RunReport> report =
      run_operator({.ranks = 3, .shape = {7, 2, 2}, .tile_rows = 3, .observer = &recorder});
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
  const Result<RunReport> first = run_operator(options);
  const Result<RunReport> second = run_operator(other);
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
  const Result<RunReport> report = run_operator(heavy());
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_GE(report->overlap, 0.8);
}

// No turn can begin before the last product of every rank has ended, on whatever machine.
TEST(Operator, CommitsMovedToTheEndNeverOverlap) {
  RunOptions options = heavy();
  options.commit_at_end = true;
  const Result<RunReport> report = run_operator(options);
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->overlap, 0);
}

TEST(Operator, ReduceScatterOfManyRanksOnFewDevicesSumsThemAll) {
  const Result<RunReport> report = run_operator({.op = "matmul-reduce-scatter",
                                                 .ranks = 64,
                                                 .devices = 3,
                                                 .shape = {128, 16, 8},
                                                 .dtype = Dtype::kBf16,
                                                 .tile_rows = 1});
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->messages, 64U);
  EXPECT_EQ(report->turns, 2U);
}

TEST(Operator, BadOptionsAreErrorsThatNameThem) {
  const auto code = [](const RunOptions& options) { return run_operator(options).error().code; };
  EXPECT_EQ(code({.op = "matmul"}), Code::kBadArgument);
  EXPECT_EQ(code({.op = "matmul-reduce-scatter", .ranks = 3}), Code::kBadArgument);
  EXPECT_EQ(code({.ranks = 4, .devices = 5}), Code::kBadArgument);
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
