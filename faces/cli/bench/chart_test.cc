// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::cli::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ChartTest, BothAxesAreLogarithmic) {
  const std::string svg = draw_chart(
      "t", {{.title = "p", .series = {{"s", "red", false, {{1, 1}, {16, 10}, {256, 100}}}}}});
  // The middle of the plot: 80 + 480 / 2, and half of the height of 250.
  EXPECT_THAT(svg, HasSubstr(R"(cx="80.0" cy="320.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(cx="320.0" cy="195.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(cx="560.0" cy="70.0")"));
  EXPECT_THAT(svg, HasSubstr(">256 B<"));
}

TEST(ChartTest, OnePointOrNoneGivesAPictureWithoutNonsense) {
  for (const Series& series :
       {Series{"s", "red", false, {{8, 3}}}, Series{"s", "red", false, {}}}) {
    const std::string svg = draw_chart("t", {{.title = "p", .series = {series}}});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  }
}

TEST(ChartTest, WordsAreEscaped) {
  EXPECT_THAT(draw_chart("a<b & c>d", {}), HasSubstr("a&lt;b &amp; c&gt;d"));
}

}  // namespace
}  // namespace commrig::cli::bench
