// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/check.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"

namespace commrig::topo {
namespace {

using enum Rule;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

TEST(CheckTable, GoodTablesOfEveryFormHaveNothingButNotes) {
  struct Good {
    std::string_view table;
    Form form;
    Chip chip;
    std::size_t ranks;
  };
  for (const Good& good :
       {Good{kGoodCloud, Form::kCloud, Chip::k910, 3}, Good{kGoodLab, Form::kLab, Chip::k910, 2},
        Good{kGood10, Form::kV10, Chip::k910, 4}, Good{kGood10, Form::kV10, Chip::kA2, 4},
        Good{kGood11, Form::kV11, Chip::kA2, 3}, Good{kGood12, Form::kV12, Chip::kA3, 6},
        Good{kGood20, Form::kV20, Chip::k950, 3}}) {
    for (const Chip chip : {Chip::kAny, good.chip}) {
      const CheckedTable table = check_table(std::string(good.table), {.chip = chip});
      EXPECT_EQ(table.cluster.form, good.form);
      EXPECT_EQ(table.cluster.ranks.size(), good.ranks);
      EXPECT_EQ(table.count(Severity::kError) + table.count(kWarning), 0U) << listed(table);
      EXPECT_EQ(table.count(Severity::kNote), chip == Chip::kAny ? 1U : 0U) << listed(table);
    }
  }
}

TEST(CheckTable, FaultsOfTheTextAreFoundWhereTheyAre) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"server_count\": \"2\",", "\"server_count\": \"2\", @// two", kComment,
                  ""},
           Mutant{kGood10, "\"rank_id\": \"3\"}", "\"rank_id\": \"3\"}@,", kExtraComma, ""},
           Mutant{kGood10, "\"version\": \"1.0\",", "\"version\": \"1.0\"@", kMissingComma, ""},
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @'2'", kQuotes, ""},
           Mutant{kGood10,
                  "{\"device_id\": \"0\", \"device_ip\": \"192.0.2.18\", \"rank_id\": \"2\"},",
                  "@...", kEllipsis, "", "EI0004"},
           Mutant{kGood10, "\"2\",\n", "@nothing,\n", kMalformed, ""},
           Mutant{kGood10, "\"version\": \"1.0\",", "\"version\": \"1.0\", \"@version\": \"1.0\",",
                  kDuplicateKey, "", "none", Chip::kAny, kWarning},
           Mutant{kGood10, "  ]\n}\n", "  ]\n}\n@{}", kTextAfterEnd, "", "none", Chip::kAny,
                  kWarning},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckTable, VersionsStatusAndChipsAreCompared) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"version\": \"1.0\"", "\"version\": @\"1.3\"", kVersion, "version"},
           Mutant{kGood10, "\"version\": \"1.0\"", "\"version\": @\"2.0\"", kVersion, "version"},
           Mutant{kGood20, "\"version\": \"2.0\"", "\"version\": @\"1.2\"", kVersion, "version"},
           Mutant{kGood10, "\"version\": \"1.0\"", "\"version\": @\"1.0\"", kVersionChip, "version",
                  "EI0014: the value \"1.0\" of version", Chip::k950},
           Mutant{kGood20, "\"version\": \"2.0\"", "\"version\": @\"2.0\"", kVersionChip, "version",
                  "EI0014", Chip::kA3},
           Mutant{kGood12, "\"version\": \"1.2\"", "\"version\": @\"1.2\"", kVersionChip, "version",
                  "none: accepted", Chip::k910, kWarning},
           Mutant{kGood10, "\"status\": \"completed\"", "\"status\": @\"Completed\"", kNotCompleted,
                  "status"},
           Mutant{kGood12, "\"status\": \"completed\"", "\"status\": @\"initializing\"",
                  kNotCompleted, "status"},
           Mutant{kGood20, "\"status\": \"completed\"", "\"status\": @\"initializing\"",
                  kNotCompleted, "status", "none: accepted", Chip::kAny, kWarning},
           Mutant{kGood11, "\"mode\": \"tcp\"", "\"mode\": @\"roce\"", kMode, "mode"},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckTable, KeysTypesAndListsAreChecked) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"status\": \"completed\",", "", kMissingKey, "$",
                  "EI0017: the key status is missing"},
           Mutant{kGood10, "{\"server_id\": \"node_0\", ", "@{", kMissingKey, "server_list[0]",
                  "EI0017: the key server_id"},
           Mutant{kGood10, "\"server_count\": \"2\",\n", "\n", kMissingKey, "$", "EI0017",
                  Chip::kAny, kWarning},
           Mutant{kGood10, "{\"device_id\": \"1\", \"device_ip\": \"192.0.2.9\",",
                  "@{\"device_ip\": \"192.0.2.9\",", kMissingKey, "server_list[0].device[1]",
                  "EI0017: the key device_id"},
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @2", kWrongType,
                  "server_count", "EI0017: the key server_count is missing"},
           Mutant{kGood20, "\"rank_count\": 3", "\"rank_count\": @\"3\"", kWrongType, "rank_count",
                  "none: the text of an exception"},
           Mutant{kGood20, "\"rank_count\": 3", "\"rank_count\": @3.0", kWrongType, "rank_count",
                  "none: accepted", Chip::kAny, kWarning},
           Mutant{kGood11, "{\"rank_id\": \"2\", \"port\": \"60001\"}", "@7", kWrongType,
                  "node_list[1].ranks[0]"},
           Mutant{kGood12,
                  "[{\"server_id\": \"node_2\"}]",
                  "@[]",
                  kEmptyList,
                  "super_pod_list[1].server_list",
                  "log only",
                  Chip::kAny,
                  Severity::kError,
                  {kServerInNoPod}},
       }) {
    expect_found(mutant);
  }
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"host_port\": \"16701\"", "\"@host_prot\": \"16701\"", kMisspeltKey,
                  "server_list[0].device[1].host_prot", "none", Chip::kAny, kWarning},
           Mutant{kGood10, "\"host_port\": \"16701\"", "\"@note\": \"16701\"", kUnknownKey,
                  "server_list[0].device[1].note", "none", Chip::kAny, Severity::kNote},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckTable, CountsAreThoseOfTheLists) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @\"3\"", kCount,
                  "server_count", "EI0014: the value \"3\" of server_count"},
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @\"two\"", kCount,
                  "server_count"},
           Mutant{kGoodCloud, "\"group_count\": \"1\"", "\"group_count\": @\"2\"", kCount,
                  "group_count"},
           Mutant{kGoodCloud, "\"instance_count\": \"2\"", "\"instance_count\": @\"1\"", kCount,
                  "group_list[0].instance_count"},
           Mutant{kGoodCloud, "\"device_count\": \"3\"", "\"device_count\": @\"2\"", kCount,
                  "group_list[0].device_count"},
           Mutant{kGoodLab, "\"instance_count\": \"2\"", "\"instance_count\": @\"8\"", kCount,
                  "group_list[0].instance_count"},
           Mutant{kGood20, "\"rank_count\": 3", "\"rank_count\": @4", kCount, "rank_count"},
           Mutant{kGood20, "\"rank_count\": 3", "\"rank_count\": @-3", kCount, "rank_count"},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckTable, AnInitializingTableIsNotLookedInto) {
  const std::string text =
      R"({"status": "initializing", "server_list": null, "server_count": "0", "version": "1.0"})";
  const CheckedTable table = check_table(text);
  EXPECT_EQ(table.count(Severity::kError), 1U) << listed(table);
  EXPECT_EQ(check_table(text, {.allow_initializing = true}).count(Severity::kError), 0U);
  EXPECT_EQ(check_table(R"({"status": "initializing"})").cluster.form, Form::kCloud);
}

TEST(CheckTable, RelativesAreNamedAndAreNoTables) {
  const std::string server = R"({"server_id": "a", "device": [{"device_id": "0"}]})";
  for (const auto& [text, form] :
       {std::pair<std::string, Form>{R"({"server_group_list": []})", Form::kGlobal},
        {R"({"version": "1.2", "prefill_device_list": []})", Form::kPrefillDecode},
        {R"({"version": "1.2", "server_list": [)" + server + "]}", Form::kLocalResource},
        {R"({"status": "complete", "server_list": [{"server_sn": "1"}]})", Form::kJobSummary},
        {R"({"pod_name": "p", "devices": []})", Form::kAnnotation},
        {R"({"kind": "ConfigMap", "data": {"hccl.json": "{}"}})", Form::kConfigMap},
        {R"({"version": "2.0", "peer_list": []})", Form::kTopology},
        {R"({"version": "2.0", "rank_list": [], "topo_file_path": "/t"})", Form::kRootInfo},
        {R"({"a": 1})", Form::kNone},
        {"[1]", Form::kNone},
        {"", Form::kNone}}) {
    const CheckedTable table = check_table(text);
    EXPECT_EQ(table.cluster.form, form) << text;
    EXPECT_FALSE(table.is_table()) << text;
    EXPECT_EQ(table.count(Severity::kError), 1U) << text << listed(table);
  }
}

TEST(CheckTable, WhatHcclMakesOfAnotherFileIsSaid) {
  const auto reaction = [](const char* text) {
    return hccl_reaction(check_table(text).findings.front());
  };
  EXPECT_THAT(reaction(""), HasSubstr("EI0004"));
  EXPECT_THAT(reaction("{}"), HasSubstr("EI0017"));
  EXPECT_THAT(reaction(R"({"status": "complete", "server_list": [{"server_sn": "1"}]})"),
              HasSubstr("it waits"));
}

TEST(CheckTable, APlaceholderForThePodIsAWarning) {
  expect_found({kGood10, "\"198.51.100.9\"", "@\"198.51.100.xx\"", kPlaceholder,
                "server_list[1].container_ip", "none: accepted", Chip::kAny, kWarning});
}

TEST(CheckTable, PlaceholdersInAnAnnotationAreNamed) {
  const CheckedTable table = check_table(
      R"({"pod_name": "p", "devices": [{"device_id": "0", "device_ip": "-1",
          "super_device_id": "-2"}]})");
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB31 devices[0].device_ip"));
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB31 devices[0].super_device_id"));
}

TEST(CheckTable, ATableLongerThanTheLimitIsAWarning) {
  std::string text(kGood10);
  text += std::string((std::size_t{40} << 20) + 1, ' ');
  EXPECT_THAT(check_table(text).findings, Contains(Field(&TableFinding::rule, kTooLong)));
}

TEST(CheckTable, APageWithEverythingWrongIsReadInOnePass) {
  const CheckedTable table = check_table(
      "{\n\"status\": \"completed\", // written\n\"server_list\": [{ // hosts\n\"device\": [{\n"
      "\"device_id\": \"1\",\n\"device_ip\": \"192.0.2.xx\", // address\n\"rank_id\": \"0\"\n}, {\n"
      "...\n}],\n\"server_id\": \"198.51.100.xx\",\n\"container_ip\": \"198.51.100.xx\", // "
      "pod\n}]\n"
      "\"server_count\": \"1\",\n\"version\": \"1.0\"\n}\n");
  EXPECT_EQ(listed(table).find("CR-TAB18"), std::string::npos) << listed(table);
  for (const char* const each :
       {"CR-TAB01  2:24", "CR-TAB01  3:19", "CR-TAB01  6:28",
        "CR-TAB31 server_list[0].device[0].device_ip 6:14", "CR-TAB05  9:1",
        "CR-TAB31 server_list[0].server_id 11:14", "CR-TAB02  12:32", "CR-TAB01  12:34",
        "CR-TAB03  13:3", "CR-TAB25 $"}) {
    EXPECT_THAT(listed(table), HasSubstr(each));
  }
}

}  // namespace
}  // namespace commrig::topo
