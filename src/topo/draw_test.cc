// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/draw.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/draw_fold.h"
#include "topo/make.h"

namespace commrig::topo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Cluster cluster_of(int servers, int devices, int pod_servers, Form form = Form::kV12) {
  MakeOptions options{.form = form, .devices = devices, .pod_servers = pod_servers};
  for (int i = 0; i < servers; ++i) options.hosts.push_back({.id = "node_" + std::to_string(i)});
  return make_cluster(options).value();
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Fold, KeepsTheFirstOnesAndTheLast) {
  EXPECT_EQ(fold({0, 1, 2}, 3).size(), 3U);
  const std::vector<Folded> folded = fold({4, 5, 6, 7, 8}, 4);
  ASSERT_EQ(folded.size(), 4U);
  EXPECT_EQ(folded[1].index, 5);
  EXPECT_THAT(folded[2].hidden, ElementsAre(6, 7));
  EXPECT_EQ(folded[3].index, 8);
}

TEST(DrawSvg, SmallClustersAreDrawnWhole) {
  const std::string svg = draw_svg(cluster_of(4, 2, 2), "t.json");
  EXPECT_EQ(count(svg, "<g class=\"pod\">"), 2U);
  EXPECT_EQ(count(svg, "<g class=\"server\">"), 4U);
  EXPECT_EQ(count(svg, "<g class=\"device\">"), 8U);
  EXPECT_THAT(svg, Not(HasSubstr("class=\"folded\"")));
  EXPECT_THAT(svg, HasSubstr("super pod 1: 2 servers, ranks 4 to 7"));
}

TEST(DrawSvg, LargeClustersAreFoldedAndSayWhatIsHidden) {
  const std::string svg = draw_svg(cluster_of(1024, 16, 24), "t.json");
  EXPECT_LE(count(svg, "<g class=\"device\">"), kPodsShown * kServersShown * kDevicesShown);
  EXPECT_THAT(svg, HasSubstr("more super pods"));
  EXPECT_THAT(svg, HasSubstr("more servers"));
  EXPECT_THAT(svg, HasSubstr("ranks 0 to 383"));
  EXPECT_THAT(svg, HasSubstr(">16383<"));
  EXPECT_LT(svg.size(), 400'000U);
}

TEST(DrawSvg, TablesWithoutSuperPodsAndLargeServersAreDrawn) {
  const std::string svg = draw_svg(cluster_of(100, 32, 0, Form::kV10), "t.json");
  EXPECT_THAT(svg, HasSubstr("77 more servers"));
  EXPECT_THAT(svg, HasSubstr("+17"));
}

TEST(DrawSvg, NamesAreEscaped) {
  Cluster cluster = cluster_of(1, 1, 0);
  cluster.servers[0].id = "<script>&\"";
  const std::string html = draw_html(cluster, "</title>");
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;&amp;&quot;"));
  EXPECT_THAT(html, HasSubstr("<title>&lt;/title&gt;</title>"));
}

TEST(DrawHtml, ListsEveryServer) {
  const std::string html = draw_html(cluster_of(1024, 16, 24), "t.json");
  EXPECT_EQ(count(html, "<tr><td>"), 1024U);
  EXPECT_THAT(html, HasSubstr("<td>node_500</td><td>16</td><td>ranks 8000 to 8015</td>"));
}

}  // namespace
}  // namespace commrig::topo
