// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/check_report.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace commrig::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTable = R"({
  "status": "completed", "version": "1.0", "server_count": "2",
  "server_list": [
    {"server_id": "a", "device": [{"device_id": "0", "device_ip": "-.-.-.-", "rank_id": "0"}]},
    {"server_id": "b", "device": [{"device_id": "0", "device_ip": "192.0.2.2", "rank_id": "0"}]}
  ]
}
)";

CheckedFile checked(std::string text) {
  return {"t.json", topo::check_table(std::move(text))};
}

TEST(CheckReport, TextHasPlaceExcerptCaretAndAdvice) {
  const std::string text = report_text(checked(kTable), {});
  EXPECT_THAT(text, HasSubstr("t.json:4:67  error    CR-TAB31  "
                              "server_list[0].device[0].device_ip: placeholder"));
  EXPECT_THAT(text, HasSubstr("    4 | ..."));
  EXPECT_THAT(text, HasSubstr(" ^~~~~~~~~\n"));
  EXPECT_THAT(text, HasSubstr("HCCL   EI0014: the value \"-.-.-.-\" of IP"));
  EXPECT_THAT(text, HasSubstr("also   t.json:4:"));
  EXPECT_THAT(text, HasSubstr("t.json: rank table 1.0, 2 servers, 2 ranks: 2 errors, 0 warnings"));
}

TEST(CheckReport, TheCaretStandsUnderThePlaceBehindWideCharacters) {
  const std::string text = report_text(checked("{\"status\": \"完成\", x}"), {});
  EXPECT_THAT(text, HasSubstr("    1 | {\"status\": \"完成\", x}\n"
                              "      |                     ^\n"));
}

TEST(CheckReport, BriefIsOneLineAFindingAndTheLastLine) {
  const CheckedFile file = checked(kTable);
  const std::string text = report_text(file, {.brief = true});
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            file.table.findings.size() + 1);
}

TEST(CheckReport, TheSameRuleIsShownSoOftenOnly) {
  const CheckedFile file = checked("[" + std::string(50, ',') + "]");
  EXPECT_THAT(report_text(file, {}), HasSubstr("and 30 more of CR-TAB02"));
  EXPECT_THAT(report_text(file, {.all = true}), Not(HasSubstr("more of")));
}

TEST(CheckReport, WhatWouldMoveATerminalsCursorIsReplaced) {
  const std::string text = report_text(checked("{\"status\": \"\x1b[2J\"}"), {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(CheckReport, JsonHasEveryPartOfAFinding) {
  const json report = json::parse(report_json({checked(kTable)}));
  const json& file = report.at("files").at(0);
  EXPECT_EQ(file.at("verdict"), "bad");
  EXPECT_EQ(file.at("errors"), 2);
  const json& finding = file.at("findings").at(1);
  EXPECT_EQ(finding.at("id"), "CR-TAB31");
  EXPECT_EQ(finding.at("line"), 4);
  EXPECT_EQ(finding.at("column"), 67);
  EXPECT_EQ(finding.at("path"), "server_list[0].device[0].device_ip");
  EXPECT_EQ(finding.at("hccl").at("code"), "EI0014");
  EXPECT_EQ(file.at("findings").at(2).at("related").at(0).at("line"), 4);
}

TEST(CheckReport, BytesThatAreNoTextStayNoText) {
  EXPECT_TRUE(json::accept(report_json({checked("{\"status\": \"\xff\"}")})));
}

TEST(CheckReport, SarifNamesItsRulesAndPlaces) {
  const json sarif = json::parse(report_sarif({checked(kTable)}, "1.2.3"));
  EXPECT_EQ(sarif.at("version"), "2.1.0");
  const json& run = sarif.at("runs").at(0);
  const json& rules = run.at("tool").at("driver").at("rules");
  for (const json& result : run.at("results")) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
    EXPECT_GE(result.at("locations").at(0).at("physicalLocation").at("region").at("startLine"), 1);
  }
}

}  // namespace
}  // namespace commrig::cli
