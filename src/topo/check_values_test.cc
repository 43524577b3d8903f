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

TEST(CheckValues, NamesAndAddressesAreCheckedAndUnique) {
  const std::string longest(65, 'n');
  const std::string too_long = "\"server_id\": @\"" + longest + "\"";
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"server_id\": \"node_1\"", "\"server_id\": @\"\"", kTextLength,
                  "server_list[1].server_id"},
           Mutant{kGood10, "\"server_id\": \"node_1\"", too_long, kTextLength,
                  "server_list[1].server_id"},
           Mutant{kGood10, "\"server_id\": \"node_1\"", "\"server_id\": @\"node_0\"", kServerTwice,
                  "server_list[1].server_id"},
           Mutant{kGood11, "\"node_addr\": \"198.51.100.2\"", "\"node_addr\": @\"198.51.100.1\"",
                  kServerTwice, "node_list[1].node_addr"},
           Mutant{kGood11, "\"node_addr\": \"198.51.100.2\"", "\"node_addr\": @\"node_2\"",
                  kNoAddress, "node_list[1].node_addr"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"192.0.2.8\"", kAddressTwice,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"192.0.2.256\"", kNoAddress,
                  "server_list[1].device[1].device_ip", "EI0014: the value \"192.0.2.256\" of IP"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"-.-.-.-\"", kPlaceholder,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"192.0.2.xx\"", kPlaceholder,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"-1\"", kPlaceholder,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"\"", kAddressMissing,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "{\"device_id\": \"1\", \"device_ip\": \"192.0.2.19\", ",
                  "@{\"device_id\": \"1\", ", kAddressMissing, "server_list[1].device[1]"},
           Mutant{kGood10, "\"192.0.2.19\"", "@\"2001:db8::19\"", kFamilies,
                  "server_list[1].device[1].device_ip"},
           Mutant{kGood10, "\"host_ip\": \"198.51.100.2\"", "\"host_ip\": @\"2001:db8::2\"",
                  kHostFamilies, "server_list[1].host_ip"},
           Mutant{kGood10, "\"host_ip\": \"198.51.100.2\"", "\"host_ip\": @\"host\"", kNoAddress,
                  "server_list[1].host_ip"},
           Mutant{kGood10,
                  "\"192.0.2.19\"",
                  "@\"192.0.2.19,192.0.2.20\"",
                  kAddressCount,
                  "server_list[1].device[1].device_ip",
                  "log only",
                  Chip::kAny,
                  Severity::kError,
                  {kSeveralAddresses}},
           Mutant{kGoodCloud, "\"pod_name\": \"pod-b\"", "\"pod_name\": @\"pod-a\"", kNameTwice,
                  "group_list[0].instance_list[1].pod_name"},
           Mutant{kGood12, "\"super_pod_id\": \"1\"", "\"super_pod_id\": @\"0\"", kNameTwice,
                  "super_pod_list[1].super_pod_id"},
           Mutant{kGoodCloud, "{\"device_id\": \"4\", \"device_ip\": \"192.0.2.10\"}",
                  "@{\"device_id\": \"4\"}", kMissingKey,
                  "group_list[0].instance_list[1].devices[0]", "EI0017: the key device_ip"},
       }) {
    expect_found(mutant);
  }
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"host_ip\": \"198.51.100.2\"", "\"host_ip\": @\"198.51.100.1\"",
                  kSharedHost, "server_list[1].host_ip", "none", Chip::kAny, kWarning},
           Mutant{kGood10, "\"server_id\": \"node_1\"", "\"server_id\": @\"127.0.1.1\"", kLoopback,
                  "server_list[1].server_id", "none", Chip::kAny, kWarning},
           Mutant{kGood10, "\"server_id\": \"node_1\"", "\"server_id\": @\"xx.xx.xx.xx\"",
                  kPlaceholder, "server_list[1].server_id", "none: accepted", Chip::kAny, kWarning},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckValues, PortsDevicesAndRanksAreChecked) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"16667\"", "@\"70000\"", kPort,
                  "server_list[0].device[0].device_port"},
           Mutant{kGood10, "\"16667\"", "@\"0\"", kPort, "server_list[0].device[0].device_port"},
           Mutant{kGood10, "\"16667\"", "@\"80\"", kLowPort, "server_list[0].device[0].device_port",
                  "none", Chip::kAny, kWarning},
           Mutant{kGood10, "\"16701\"", "@\"16700\"", kPortTwice,
                  "server_list[0].device[1].host_port", "none", Chip::kAny, kWarning},
           Mutant{kGood10, "\"device_id\": \"0\", \"device_ip\": \"192.0.2.8\"",
                  "\"device_id\": @\"32\", \"device_ip\": \"192.0.2.8\"", kDeviceId,
                  "server_list[0].device[0].device_id"},
           Mutant{kGood10, "\"device_id\": \"0\", \"device_ip\": \"192.0.2.8\"",
                  "\"device_id\": @\"8\", \"device_ip\": \"192.0.2.8\"", kDeviceId,
                  "server_list[0].device[0].device_id", "log only", Chip::k910},
           Mutant{kGood10, "\"device_id\": \"1\", \"device_ip\": \"192.0.2.9\"",
                  "\"device_id\": @\"0\", \"device_ip\": \"192.0.2.9\"", kDeviceTwice,
                  "server_list[0].device[1].device_id"},
           Mutant{kGood10, "\"rank_id\": \"3\"", "\"rank_id\": @\"-3\"", kRankNumber,
                  "server_list[1].device[1].rank_id"},
           Mutant{kGood10, "\"rank_id\": \"3\"", "\"rank_id\": @\"2\"", kRankTwice,
                  "server_list[1].device[1].rank_id"},
           Mutant{kGood10, "\"rank_id\": \"3\"", "\"rank_id\": @\"4\"", kRankRange,
                  "server_list[1].device[1].rank_id"},
           Mutant{kGood20, "\"rank_id\": 2", "\"rank_id\": @9", kRankRange, "rank_list[2].rank_id"},
           Mutant{kGood20, "\"rank_id\": 2", "\"rank_id\": @-1", kRankNumber,
                  "rank_list[2].rank_id"},
           Mutant{
               kGood10,
               "\"rank_id\": \"1\"}\n     ]},\n    {\"server_id\": \"node_1\", \"host_ip\": "
               "\"198.51.100.2\", \"container_ip\": \"198.51.100.9\",\n     \"device\": [\n       "
               "{\"device_id\": \"0\", \"device_ip\": \"192.0.2.18\", \"rank_id\": \"2\"}",
               "\"rank_id\": \"2\"}\n     ]},\n    {\"server_id\": @\"node_1\", \"host_ip\": "
               "\"198.51.100.2\", \"container_ip\": \"198.51.100.9\",\n     \"device\": [\n       "
               "{\"device_id\": \"0\", \"device_ip\": \"192.0.2.18\", \"rank_id\": \"1\"}",
               kInterleaved,
               "server_list[1].server_id",
               "none",
               Chip::kAny,
               kWarning,
               {kInterleaved}},
           Mutant{kGoodLab, "\"para_plane_nic_location\": \"device\"",
                  "\"para_plane_nic_location\": @\"host\"", kLabNic, "para_plane_nic_location"},
           Mutant{kGoodLab, "\"server_num\": \"1\"", "\"server_num\": @\"0\"", kLabDevices,
                  "group_list[0].server_num"},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckValues, UnevenServersAreAnErrorOnlyWhereTheChipRefusesThem) {
  std::string text(kGood10);
  const std::string_view last =
      ",\n       {\"device_id\": \"1\", \"device_ip\": \"192.0.2.19\", \"rank_id\": \"3\"}";
  text.erase(text.find(last), last.size());
  EXPECT_EQ(check_table(text, {.chip = Chip::k910}).count(Severity::kError), 1U);
  const CheckedTable a2 = check_table(text, {.chip = Chip::kA2});
  EXPECT_EQ(a2.count(Severity::kError), 0U);
  EXPECT_THAT(a2.findings, Contains(Field(&TableFinding::rule, kUneven)));
}

TEST(CheckValues, FourDevicesOf910AreOneOfEightSets) {
  const auto rule_for = [](std::string_view devices) {
    std::string text = R"({"status": "completed", "version": "1.0", "server_count": "1",
      "server_list": [{"server_id": "a", "device": [)";
    for (std::size_t i = 0; i < devices.size(); ++i) {
      text += std::string(i == 0 ? "" : ",") + R"({"device_id": ")" + devices[i] +
              R"(", "device_ip": "192.0.2.)" + std::to_string(i + 1) + R"(", "rank_id": ")" +
              std::to_string(i) + "\"}";
    }
    return check_table(text + "]}]}", {.chip = Chip::k910}).count(Severity::kError);
  };
  for (const char* const good : {"0123", "4567", "0145", "0246", "0347", "1256", "1357", "2367"}) {
    EXPECT_EQ(rule_for(good), 0U) << good;
  }
  for (const char* const bad : {"0124", "0167", "2345", "0257"})
    EXPECT_EQ(rule_for(bad), 1U) << bad;
  EXPECT_EQ(rule_for("012"), 0U);
}

TEST(CheckValues, TheCloudFormIsNumberedByNameAndDevice) {
  std::string text(kGoodCloud);
  text.replace(text.rfind("node_10"), 7, "node_1");
  const CheckedTable table = check_table(text);
  ASSERT_EQ(table.cluster.ranks.size(), 3U);
  EXPECT_EQ(table.cluster.ranks[0].id, 1);  // node_10 comes behind node_1
  EXPECT_EQ(table.cluster.ranks[2].id, 0);
}

TEST(CheckValues, APartOfATableIsNamed) {
  std::string text(kGood10);
  for (const auto& [from, to] : {std::pair("\"3\"", "\"11\""),
                                 {"\"rank_id\": \"2\"", "\"rank_id\": \"10\""},
                                 {"\"rank_id\": \"1\"", "\"rank_id\": \"9\""},
                                 {"\"rank_id\": \"0\"", "\"rank_id\": \"8\""}}) {
    text.replace(text.find(from), std::string_view(from).size(), to);
  }
  const CheckedTable table = check_table(text);
  ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
  EXPECT_THAT(listed(table), HasSubstr("ranks 8 to 11: is it a part of one?"));
}

TEST(CheckValues, TheProcessIsComparedWithItsRank) {
  const std::string text(kGood10);
  EXPECT_EQ(check_table(text, {.rank = 3, .device = 1}).count(Severity::kError), 0U);
  EXPECT_THAT(listed(check_table(text, {.rank = 4})), HasSubstr("CR-TAB51"));
  EXPECT_THAT(listed(check_table(text, {.rank = 3, .device = 7})),
              HasSubstr("CR-TAB52 server_list[1].device[1].device_id"));
}

TEST(CheckValues, TheEnvironmentDecidesWhetherAddressesAreNeeded) {
  const std::string single = R"({"status": "completed", "version": "1.0", "server_count": "1",
    "server_list": [{"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]}]})";
  EXPECT_EQ(check_table(single).count(Severity::kError), 0U);
  EXPECT_EQ(check_table(single, {.intra_roce = true}).count(Severity::kError), 1U);
  std::string pod = R"({"status": "completed", "version": "1.2", "server_count": "1",
    "server_list": [{"server_id": "a", "device": [{"device_id": "0", "rank_id": "0",
    "super_device_id": "37748736"}]}],
    "super_pod_list": [{"super_pod_id": "0", "server_list": [{"server_id": "a"}]}]})";
  EXPECT_EQ(check_table(pod).count(Severity::kError), 0U);
  EXPECT_EQ(check_table(pod, {.inter_hccs = false}).count(Severity::kError), 1U);
  std::string backup(kGood12);
  const std::string_view from = "\"backup_device_ip\": \"192.0.2.8\"";
  backup.replace(backup.find(from), from.size(), "\"backup_device_ip\": \"192.0.2.18\"");
  EXPECT_EQ(check_table(backup, {.retry = false}).count(Severity::kError), 0U);
}

TEST(CheckValues, ANetworkCardOnTheHostNeedsItsAddress) {
  std::string text(kGood10);
  const std::string_view from = "\"192.0.2.8\",";
  text.replace(text.find(from), from.size(), "\"192.0.2.8\", \"net_position\": \"host\",");
  EXPECT_EQ(check_table(text).count(Severity::kError), 0U);
  const std::string_view host = ", \"host_ip\": \"198.51.100.1\"";
  text.erase(text.find(host), host.size());
  EXPECT_THAT(listed(check_table(text)),
              HasSubstr("CR-TAB37 server_list[0].device[0].net_position"));
}

}  // namespace
}  // namespace commrig::topo
