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

TEST(CheckPods, SuperPodsAreChecked) {
  for (const Mutant& mutant : {
           Mutant{kGood12, "\"42008577\"", "@\"\"", kSuperDevice,
                  "server_list[1].device[1].super_device_id"},
           Mutant{kGood12, "\"42008577\"", "@\"4294967296\"", kSuperDevice,
                  "server_list[1].device[1].super_device_id"},
           Mutant{kGood12, "\"42008577\"", "@\"-2\"", kPlaceholder,
                  "server_list[1].device[1].super_device_id"},
           Mutant{kGood12, "{\"device_id\": \"1\", \"super_device_id\": \"42008577\", ",
                  "@{\"device_id\": \"1\", ", kSuperDeviceMissing, "server_list[1].device[1]"},
           // device 1 of server 10 has the number of device 3
           Mutant{kGood12, "\"42008577\"", "@\"42270723\"", kSuperDeviceOther,
                  "server_list[1].device[1].super_device_id"},
           Mutant{kGood12, "\"42008577\"", "@\"46202881\"", kSuperDeviceServer,
                  "server_list[1].device[1].super_device_id", "none", Chip::kAny, kWarning},
           Mutant{kGood12, "\"super_pod_id\": \"1\"", "\"super_pod_id\": @\"\"", kSuperPodId,
                  "super_pod_list[1].super_pod_id"},
           Mutant{kGood12, "{\"super_pod_id\": \"1\", ", "@{", kSuperPodId, "super_pod_list[1]",
                  "EI0014: the value \"\" of super_pod_id"},
           Mutant{kGood12,
                  "[{\"server_id\": \"node_2\"}]",
                  "[{\"server_id\": @\"node_9\"}]",
                  kPodServerUnknown,
                  "super_pod_list[1].server_list[0].server_id",
                  "EI0014",
                  Chip::kAny,
                  Severity::kError,
                  {kServerInNoPod}},
           Mutant{kGood12, "[{\"server_id\": \"node_2\"}]",
                  "[{\"server_id\": \"node_2\"}, {\"server_id\": @\"node_0\"}]", kServerInTwoPods,
                  "super_pod_list[1].server_list[1].server_id"},
           Mutant{kGood12, "\"backup_device_ip\": \"192.0.2.8\"",
                  "\"backup_device_ip\": @\"192.0.2.18\"", kBackup,
                  "server_list[0].device[1].backup_device_ip"},
           Mutant{kGood12,
                  "\"backup_device_ip\": \"192.0.2.8\"",
                  "\"backup_device_ip\": @\"192.0.2.9\"",
                  kBackup,
                  "server_list[0].device[1].backup_device_ip",
                  "log only",
                  Chip::kAny,
                  Severity::kError,
                  {kBackupTwice}},
           Mutant{kGood12, "\"backup_device_ip\": \"192.0.2.8\"", "\"backup_device_ip\": @\"x\"",
                  kNoAddress, "server_list[0].device[1].backup_device_ip"},
           Mutant{kGood12, "\"backup_device_ip\": \"192.0.2.8\"",
                  "\"backup_device_ip\": \"192.0.2.8\", \"backup_device_port\": @\"16666\"",
                  kBackupPort, "server_list[0].device[1].backup_device_port"},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckPods, TheServerThatNoSuperPodNamesIsFound) {
  std::string text(kGood12);
  const std::string_view gone = ", {\"server_id\": \"node_1\"}";
  text.erase(text.find(gone), gone.size());
  const CheckedTable table = check_table(text);
  ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB63 server_list[1].server_id 13:19"));
}

TEST(CheckPods, SuperDeviceTwiceInOnePodIsFoundWithBothPlaces) {
  std::string text(kGood12);
  const std::size_t at = text.find("\"41943040\"");
  text.replace(at, 10, "\"37748736\"");
  const CheckedTable table = check_table(text);
  const auto found = std::ranges::find(table.findings, kSuperDeviceTwice, &TableFinding::rule);
  ASSERT_NE(found, table.findings.end()) << listed(table);
  EXPECT_EQ(found->path, "server_list[1].device[0].super_device_id");
  ASSERT_EQ(found->related.size(), 1U);
  EXPECT_EQ(found->related[0].path, "server_list[0].device[0].super_device_id");
}

TEST(CheckPods, SuperPodsAreNotReadOnA2) {
  std::string text(kGood12);
  text.replace(text.find("\"42008577\""), 10, "\"42270723\"");
  EXPECT_EQ(check_table(text, {.chip = Chip::kA3}).count(Severity::kError), 1U);
  EXPECT_EQ(check_table(text, {.chip = Chip::kA2}).count(Severity::kError), 0U);
}

TEST(CheckPods, VirtualAddressesAreComparedWithDeviceAndNumber) {
  const auto table_with = [](std::string_view address) {
    return R"({"status": "completed", "version": "1.2", "server_count": "1", "server_list": [
      {"server_id": "a", "device": [{"device_id": "15", "super_device_id": "102563855",
       "device_ip": ")" +
           std::string(address) + R"(", "rank_id": "0"}]}],
      "super_pod_list": [{"super_pod_id": "0", "server_list": [{"server_id": "a"}]}]})";
  };
  EXPECT_EQ(check_table(table_with("192.24.3.184")).count(kWarning), 0U);
  EXPECT_EQ(check_table(table_with("198.51.100.7")).count(kWarning), 0U);
  for (const char* const other : {"192.24.3.186", "192.24.2.184", "192.25.3.184"}) {
    const CheckedTable table = check_table(table_with(other));
    EXPECT_THAT(table.findings, Contains(Field(&TableFinding::rule, kVirtualNic))) << other;
  }
}

TEST(CheckPods, SuperPodsThatAreMixedAreNamed) {
  std::string text(kGood12);
  text.replace(text.find("{\"server_id\": \"node_1\"}]"), 24, "{\"server_id\": \"node_2\"}]");
  text.replace(text.rfind("{\"server_id\": \"node_2\"}]"), 24, "{\"server_id\": \"node_1\"}]");
  EXPECT_THAT(listed(check_table(text)), HasSubstr("CR-TAB64 server_list[2].server_id"));
}

}  // namespace
}  // namespace commrig::topo
