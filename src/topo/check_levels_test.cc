// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/check.h"
#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"

namespace commrig::topo {
namespace {

using enum Rule;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

TEST(CheckLevels, Version20IsChecked) {
  for (const Mutant& mutant : {
           Mutant{kGood20, "\"local_id\": 1,", "\"local_id\": @65,", kLocalId,
                  "rank_list[1].local_id", "none: the text"},
           Mutant{kGood20, "\"local_id\": 1,", "\"local_id\": @5,", kReplacedId,
                  "rank_list[2].replaced_local_id"},
           Mutant{kGood20, "\"replaced_local_id\": 5", "\"replaced_local_id\": @64", kReplacedId,
                  "rank_list[2].replaced_local_id"},
           Mutant{kGood20, "\"local_id\": 64", "\"local_id\": 2", kReplacedId,
                  "rank_list[2].replaced_local_id"},
           Mutant{kGood20, "\"device_id\": 8", "\"device_id\": @65", kDeviceId,
                  "rank_list[2].device_id", "none: the text"},
           Mutant{kGood20, "\"device_port\": 16666", "\"device_port\": @0", kPort,
                  "rank_list[0].device_port", "none: the text"},
           Mutant{kGood20, "\"listen_port\": 60001", "\"listen_port\": @65536", kPort,
                  "rank_list[0].control_plane.listen_port", "none: the text"},
           Mutant{kGood20, "\"detour\": \"false\"", "\"detour\": @\"no\"", kDetour, "detour"},
           Mutant{kGood20, "\"addr_type\": \"EID\", \"addr\": \"000000000000000000100000dfdf0021\"",
                  "\"addr_type\": @\"eid\", \"addr\": \"000000000000000000100000dfdf0021\"",
                  kAddrType, "rank_list[1].level_list[0].rank_addr_list[0].addr_type"},
           Mutant{kGood20, "\"000000000000000000100000dfdf0021\"", "@\"dfdf0021\"", kEid,
                  "rank_list[1].level_list[0].rank_addr_list[0].addr"},
           Mutant{kGood20, "\"192.0.2.9\"", "@\"\"", kEid,
                  "rank_list[1].level_list[1].rank_addr_list[0].addr", "EI0014"},
           Mutant{kGood20, "\"192.0.2.9\"", "@\"2001:db8::9\"", kEid,
                  "rank_list[1].level_list[1].rank_addr_list[0].addr"},
           Mutant{kGood20, "\"192.0.2.48\"", "@\"none\"", kEid,
                  "rank_list[0].level_list[1].rank_addr_list[0].backup_addr[0]"},
           Mutant{kGood20, "[\"0/5\", \"0/6\"]", "[\"0/5\", @\"0/5\"]", kPorts,
                  "rank_list[0].level_list[1].rank_addr_list[0].ports[1]"},
           Mutant{kGood20, "[\"0/5\", \"0/6\"]", "[\"0/5\", @6]", kPorts,
                  "rank_list[0].level_list[1].rank_addr_list[0].ports[1]"},
           Mutant{kGood20, "[\"0/5\", \"0/6\"]", "[\"0/5\", @\"eth0\"]", kPorts,
                  "rank_list[0].level_list[1].rank_addr_list[0].ports[1]", "none: accepted",
                  Chip::kAny, kWarning},
           Mutant{kGood20, "[\"d2h\"]", "@[]", kEmptyList,
                  "rank_list[1].level_list[1].rank_addr_list[0].ports", "none"},
           Mutant{kGood20, "\"plane_id\": \"p0\"}]}",
                  "\"plane_id\": \"p0\"}, {\"addr_type\": \"IPV4\", "
                  "\"addr\": \"192.0.2.49\", \"ports\": [\"0/7\"]}]}",
                  kInstanceCounts, "rank_list[1].level_list[1].rank_addr_list"},
           Mutant{kGood20, "\"192.0.2.9\"", "@\"192.0.2.8\"", kAddressShared,
                  "rank_list[1].level_list[1].rank_addr_list[0].addr", "none", Chip::kAny,
                  kWarning},
       }) {
    const bool elsewhere =
        mutant.rule == kInstanceCounts || mutant.path.ends_with("replaced_local_id");
    if (!elsewhere) expect_found(mutant);
    if (elsewhere) {
      const CheckedTable table = check_table(mutated(mutant).text);
      ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
      EXPECT_THAT(table.findings,
                  Contains(testing::AllOf(Field(&TableFinding::rule, mutant.rule),
                                          Field(&TableFinding::path, mutant.path))));
    }
  }
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + std::string(text);
  return all;
}
// "0/0", "0/1", ...
std::string ports(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += (i == 0 ? "\"0/" : ", \"0/") + std::to_string(i) + "\"";
  return all;
}

TEST(CheckLevels, ListsAndTextsHaveLimits) {
  const std::string level = "rank_list[0].level_list[1].";
  const std::string address = level + "rank_addr_list[0].";
  const std::string backup = "[\"192.0.2.48\"]";
  const std::string both = "[\"0/5\", \"0/6\"]";
  const std::string name(1025, 'n');
  for (const Mutant& mutant :
       {Mutant{kGood20, backup, "@[" + repeated("\"192.0.2.48\"", 17) + "]", kListLimit,
               address + "backup_addr"},
        Mutant{kGood20, both, "@[" + ports(17) + "]", kPorts, address + "ports"},
        Mutant{kGood20, "\"0/6\"", "@\"" + std::string(33, '0') + "\"", kPorts,
               address + "ports[1]"},
        Mutant{kGood20, "\"p0\"", "@\"" + name + "\"", kListLimit, address + "plane_id"},
        Mutant{kGood20, "\"000000000000000000100000dfdf0021\"",
               "@\"00000000000000000010000xdfdf0021\"", kEid,
               "rank_list[1].level_list[0].rank_addr_list[0].addr"}}) {
    expect_found(mutant);
  }
  for (const Mutant& allowed :
       {Mutant{kGood20, backup, "[" + repeated("\"192.0.2.48\"", 16) + "]", kListLimit, ""},
        Mutant{kGood20, both, "[" + ports(16) + "]", kPorts, ""},
        Mutant{kGood20, "\"p0\"", "\"" + name.substr(1) + "\"", kListLimit, ""}}) {
    EXPECT_EQ(check_table(mutated(allowed).text).count(Severity::kError), 0U);
  }
}

TEST(CheckLevels, ALevelHasAtMost24AddressesAndARankAtMost8Levels) {
  const auto table = [](int levels, int addresses) {
    const std::string level = R"({"net_layer": 0, "net_instance_id": "a", "net_type":
      "TOPO_FILE_DESC", "rank_addr_list": [)" +
                              repeated(R"({"addr_type": "IPV4", "addr": "192.0.2.1", "ports":
      ["0/0"]})",
                                       addresses) +
                              "]}";
    return check_table(R"({"version": "2.0", "rank_count": 1, "rank_list": [{"rank_id": 0,
      "local_id": 0, "device_id": 0, "level_list": [)" +
                       repeated(level, levels) + "]}]}");
  };
  EXPECT_EQ(table(1, 24).count(Severity::kError), 0U) << listed(table(1, 24));
  EXPECT_THAT(listed(table(1, 25)),
              HasSubstr("CR-TAB78 rank_list[0].level_list[0].rank_addr_list"));
  EXPECT_THAT(listed(table(9, 1)), HasSubstr("CR-TAB78 rank_list[0].level_list "));
}

TEST(CheckLevels, OneRankIsTheSpareOne) {
  std::string text(kGood20);
  const std::string_view second = "\"local_id\": 1,";
  text.replace(text.find(second), second.size(), "\"local_id\": 64, \"replaced_local_id\": 6,");
  const CheckedTable table = check_table(text);
  ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB71 rank_list[2].local_id"));
}

TEST(CheckLevels, ADraftOf20IsOneFinding) {
  const CheckedTable table = check_table(R"({"version": "2.0", "rank_count": "1", "rank_list": [
    {"rank_id": 0, "local_id": 0, "level_list": [
      {"level": 0, "id": "a", "fabric_type": "INNER"}]}]})");
  ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB70 rank_count 1:34"));
}

TEST(CheckLevels, LayersRiseAndTypesAreKnown) {
  std::string text(kGood20);
  text.replace(text.find("\"net_layer\": 1"), 14, "\"net_layer\": 0");
  EXPECT_THAT(listed(check_table(text)),
              HasSubstr("CR-TAB73 rank_list[0].level_list[1].net_layer"));
  text = kGood20;
  text.replace(text.find("\"CLOS\""), 6, "\"MESH\"");
  EXPECT_THAT(listed(check_table(text)), HasSubstr("CR-TAB74 rank_list[0].level_list[1].net_type"));
  text.replace(text.find("\"MESH\""), 6, "\"2DMESH\"");
  EXPECT_EQ(check_table(text).count(Severity::kError), 0U);
  EXPECT_EQ(check_table(text).count(kWarning), 1U);
}

}  // namespace
}  // namespace commrig::topo
