// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Rules that several versions share, in each of them.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/check.h"
#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"

namespace commrig::topo {
namespace {

using enum Rule;
using testing::HasSubstr;

const std::string kCloud1 = "group_list[0].instance_list[1].";
const std::string kCloudDevice1 = "group_list[0].instance_list[0].devices[1].";
const std::string kLabDevice1 = kCloud1 + "devices[0].";
const std::string kDevice1 = "server_list[1].device[1].";
const std::string kNode1 = "node_list[0].ranks[1].";

std::string name_of(std::size_t length) {
  return "@\"" + std::string(length, 'n') + "\"";
}

// The good table with one text replaced, which stands in it once.
std::string with(std::string_view table, std::string_view from, std::string_view to) {
  std::string text(table);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CheckVersions, NamesHaveLengths) {
  const std::string lab = "\"rank_id\": \"1\", \"server_id\": ";
  const std::string cloud = "\"pod_name\": \"pod-b\", \"server_id\": ";
  for (const Mutant& mutant : {
           Mutant{kGoodCloud, "\"pod-b\"", name_of(128), kTextLength, kCloud1 + "pod_name"},
           Mutant{kGoodCloud, "\"pod-b\"", name_of(0), kTextLength, kCloud1 + "pod_name"},
           Mutant{kGoodCloud, "\"world\"", name_of(128), kTextLength, "group_list[0].group_name"},
           Mutant{kGoodLab, lab + "\"198.51.100.1\"", lab + name_of(0), kTextLength,
                  kCloud1 + "server_id"},
           Mutant{kGoodLab, lab + "\"198.51.100.1\"", lab + name_of(65), kTextLength,
                  kCloud1 + "server_id"},
           Mutant{kGood11, "\"198.51.100.1-9527\"", name_of(128), kTextLength, "collective_id"},
           Mutant{kGood12, "\"super_pod_id\": \"1\"", "\"super_pod_id\": " + name_of(128),
                  kSuperPodId, "super_pod_list[1].super_pod_id", "EI0014: the value"},
       }) {
    expect_found(mutant);
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{65}}) {
    // The devices of a server with another name make two servers of different size.
    Mutant mutant{kGoodCloud, cloud + "\"node_10\"", cloud + name_of(length), kTextLength,
                  kCloud1 + "server_id"};
    mutant.also = {kUneven};
    expect_found(mutant);
  }
  for (const auto& [table, from] : {std::pair(kGoodCloud, "\"pod-b\""),
                                    {kGoodCloud, "\"world\""},
                                    {kGood11, "\"198.51.100.1-9527\""}}) {
    const std::string longest = "\"" + std::string(127, 'n') + "\"";
    EXPECT_EQ(check_table(with(table, from, longest)).count(Severity::kError), 0U) << from;
  }
  EXPECT_EQ(check_table(with(kGood10, "\"node_1\"", "\"" + std::string(64, 'n') + "\""))
                .count(Severity::kError),
            0U);
}

TEST(CheckVersions, TwoGroupsOrServersOfOneNameAreNamed) {
  std::string groups = with(kGoodCloud, "\"group_count\": \"1\"", "\"group_count\": \"2\"");
  const std::size_t end = groups.rfind("]}");
  groups.insert(end + 2, R"(,
    {"group_name": "world", "instance_count": "1", "device_count": "1", "instance_list": [
      {"pod_name": "pod-c", "server_id": "node_11",
       "devices": [{"device_id": "0", "device_ip": "192.0.2.11"}]}]})");
  EXPECT_THAT(listed(check_table(groups)), HasSubstr("CR-TAB29 group_list[1].group_name 13:20"));
  const std::string servers =
      with(kGood12, "{\"server_id\": \"node_1\",", "{\"server_id\": \"node_0\",");
  EXPECT_THAT(listed(check_table(servers)), HasSubstr("CR-TAB26 server_list[1].server_id 13:19"));
}

TEST(CheckVersions, CountsAreThoseOfTheLists) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @\"0\"", kCount,
                  "server_count"},
           Mutant{kGood12, "\"server_count\": \"3\"", "\"server_count\": @\"4\"", kCount,
                  "server_count"},
           Mutant{kGoodCloud, "\"group_count\": \"1\"", "\"group_count\": @\"0\"", kCount,
                  "group_count"},
           Mutant{kGoodLab, "\"group_count\": \"1\"", "\"group_count\": @\"2\"", kCount,
                  "group_count"},
           Mutant{kGoodLab, "\"device_num\": \"2\"", "\"device_num\": @\"4\"", kCount,
                  "group_list[0].device_num"},
           Mutant{kGood20, "\"rank_count\": 3", "\"rank_count\": @0", kCount, "rank_count"},
       }) {
    expect_found(mutant);
  }
  std::string many = R"({"version": "2.0", "rank_count": 65537, "rank_list": [7)";
  for (int i = 1; i < 65537; ++i) many += ",7";
  EXPECT_THAT(listed(check_table(many + "]}")), HasSubstr("CR-TAB23 rank_count 1:34"));
}

TEST(CheckVersions, DeviceAddressesAreAddressesAndStandOnce) {
  struct Place {
    std::string_view table;
    std::string_view address;
    std::string_view other;  // of another device
    std::string path;
  };
  for (const Place& place :
       {Place{kGoodCloud, "\"192.0.2.9\"", "\"192.0.2.8\"", kCloudDevice1 + "device_ip"},
        Place{kGoodLab, "\"192.0.2.9\"", "\"192.0.2.8\"", kLabDevice1 + "device_ip"},
        Place{kGood10, "\"192.0.2.19\"", "\"192.0.2.8\"", kDevice1 + "device_ip"},
        Place{kGood11, "\"192.0.2.9\"", "", kNode1 + "rank_ip"},
        Place{kGood11A3, "\"192.0.2.9\"", "", kNode1 + "rank_ip"},
        Place{kGood12, "\"192.0.2.19\"", "\"192.0.2.8\"", kDevice1 + "device_ip"}}) {
    const std::string from(place.address);
    for (const char* const bad : {"\"192.0.2.256\"", "\"eth0\"", "\"192.0.2\"", "\"1:2:3\""}) {
      expect_found({place.table, from, std::string("@") + bad, kNoAddress, place.path,
                    std::string_view("EI0014: the value")});
    }
    for (const char* const bad : {"\"-.-.-.-\"", "\"-1\"", "\"192.0.2.xx\"", "\"*.*.*.*\""}) {
      expect_found({place.table, from, std::string("@") + bad, kPlaceholder, place.path,
                    std::string_view("EI0014: the value")});
    }
    if (place.other.empty()) continue;
    expect_found({place.table, from, "@" + std::string(place.other), kAddressTwice, place.path});
  }
}

TEST(CheckVersions, FamiliesAreOneWhereThereAreSeveralServers) {
  expect_found({kGood12, "\"192.0.2.29\"", "@\"2001:db8::29\"", kFamilies,
                "server_list[2].device[1].device_ip", "EI0001"});
  for (const std::string_view single : {kGoodCloud, kGoodLab}) {
    EXPECT_EQ(check_table(with(single, "192.0.2.9", "2001:db8::9")).count(Severity::kError), 0U);
  }
}

TEST(CheckVersions, DevicesAreThoseOfTheChip) {
  struct Limit {
    std::string_view table;
    std::string_view from;
    std::string path;
    Chip chip;
    int most;
  };
  const std::string_view cloud = "\"device_id\": \"4\"";
  const std::string_view lab = "\"device_id\": \"1\"";
  const std::string_view ten = "\"device_id\": \"1\", \"device_ip\": \"192.0.2.9\"";
  const std::string_view twenty = "\"device_id\": 8";
  const std::string ten_path = "server_list[0].device[1].device_id";
  for (const Limit& limit :
       {Limit{kGoodCloud, cloud, kCloud1 + "devices[0].device_id", Chip::kAny, 7},
        Limit{kGoodLab, lab, kLabDevice1 + "device_id", Chip::k910, 7},
        Limit{kGoodLab, lab, kLabDevice1 + "device_id", Chip::k310P, 31},
        Limit{kGood10, ten, ten_path, Chip::kAny, 31}, Limit{kGood10, ten, ten_path, Chip::k910, 7},
        Limit{kGood10, ten, ten_path, Chip::k310P, 31},
        Limit{kGood10, ten, ten_path, Chip::kA2, 15}, Limit{kGood10, ten, ten_path, Chip::kA3, 15},
        Limit{kGood11, lab, kNode1 + "device_id", Chip::kAny, 15},
        Limit{kGood20, twenty, "rank_list[2].device_id", Chip::k950, 64}}) {
    const bool quoted = limit.table != kGood20;
    const auto changed = [&](int device, std::string_view mark) {
      const std::string number = std::to_string(device);
      std::string to(limit.from);
      const std::size_t at = to.find(' ') + 1;
      const std::size_t end = std::min(to.find(',', at), to.size());
      return to.replace(at, end - at, std::string(mark) + (quoted ? "\"" + number + "\"" : number));
    };
    const std::string highest = with(limit.table, limit.from, changed(limit.most, ""));
    EXPECT_EQ(check_table(highest, {.chip = limit.chip}).count(Severity::kError), 0U)
        << listed(check_table(highest, {.chip = limit.chip}));
    expect_found({limit.table, std::string(limit.from), changed(limit.most + 1, "@"), kDeviceId,
                  limit.path, quoted ? "log only" : "none: the text", limit.chip});
  }
}

TEST(CheckVersions, DevicesStandOnceOnAServer) {
  for (const Mutant& mutant : {
           Mutant{kGoodCloud, "\"device_id\": \"4\"", "\"device_id\": @\"1\"", kDeviceTwice,
                  kCloud1 + "devices[0].device_id"},
           Mutant{kGoodLab, "\"device_id\": \"1\"", "\"device_id\": @\"0\"", kDeviceTwice,
                  kLabDevice1 + "device_id"},
           Mutant{kGood11, "\"device_id\": \"1\"", "\"device_id\": @\"0\"", kDeviceTwice,
                  kNode1 + "device_id"},
           Mutant{kGood20, "\"device_id\": 8", "\"device_id\": @1", kDeviceTwice,
                  "rank_list[2].device_id", "none: accepted", Chip::kAny, kWarning},
       }) {
    expect_found(mutant);
  }
}

TEST(CheckVersions, RanksAreNumbersFromZeroEachOnce) {
  struct Place {
    std::string_view table;
    std::string rank;
    std::string other;  // rank of another device of the server
    std::string path;
  };
  const std::string one = "\"rank_id\": \"1\"";
  for (const auto& [table, rank, other, path] :
       {Place{kGoodLab, one, "\"0\"", kCloud1 + "rank_id"},
        Place{kGood11, one, "\"0\"", kNode1 + "rank_id"},
        Place{kGood11A3, one, "\"0\"", kNode1 + "rank_id"},
        Place{kGood12, "\"rank_id\": \"3\"", "\"2\"", kDevice1 + "rank_id"}}) {
    const std::string start = "\"rank_id\": @";
    expect_found({table, rank, start + "\"\"", kRankNumber, path});
    expect_found({table, rank, start + "\"one\"", kRankNumber, path});
    expect_found({table, rank, start + "\"-1\"", kRankNumber, path});
    expect_found({table, rank, start + other, kRankTwice, path});
    expect_found({table, rank, start + "\"99\"", kRankRange, path});
  }
  expect_found({kGood20, "\"rank_id\": 2", "\"rank_id\": @1", kRankTwice, "rank_list[2].rank_id"});
}

TEST(CheckVersions, PortsAreNumbersOfPorts) {
  const std::string backup = "\"backup_device_ip\": \"192.0.2.8\"";
  for (const char* const bad : {"\"0\"", "\"65536\"", "\"port\"", "\"-1\""}) {
    const std::string value = std::string("@") + bad;
    for (const Mutant& mutant : {
             Mutant{kGood10, "\"16667\"", value, kPort, "server_list[0].device[0].device_port"},
             Mutant{kGood10, "\"16701\"", value, kPort, "server_list[0].device[1].host_port"},
             Mutant{kGood11A3, "\"16667\"", value, kPort, kNode1 + "port"},
             Mutant{kGood12, backup, backup + ", \"backup_device_port\": " + value, kPort,
                    "server_list[0].device[1].backup_device_port"},
         }) {
      // 0 stands for a port that HCCL chooses in 1.1.
      if (mutant.table == kGood11A3 && mutant.to == "@\"0\"") continue;
      expect_found(mutant);
    }
  }
  for (const char* const good : {"\"1024\"", "\"65535\""}) {
    const CheckedTable table = check_table(with(kGood10, "\"16667\"", good));
    EXPECT_EQ(table.count(Severity::kError) + table.count(kWarning), 0U) << listed(table);
  }
  expect_found({kGood20, "\"device_port\": 16666", "\"device_port\": 16666, \"host_port\": @70000",
                kPort, "rank_list[0].host_port", "none: the text of an exception"});
}

TEST(CheckVersions, WhatHcclTakesThoughNoDocumentAllowsItIsAWarning) {
  for (const Mutant& mutant : {
           Mutant{kGood10, "\"rank_id\": \"3\"", "\"rank_id\": @\"3x\"", kUndocumented,
                  kDevice1 + "rank_id"},
           Mutant{kGood10, "\"rank_id\": \"3\"", "\"rank_id\": @\" 3\"", kUndocumented,
                  kDevice1 + "rank_id"},
           Mutant{kGood10, "\"16667\"", "@\"16667/tcp\"", kUndocumented,
                  "server_list[0].device[0].device_port"},
           Mutant{kGood10, "\"server_count\": \"2\"", "\"server_count\": @\"2.0\"", kUndocumented,
                  "server_count"},
           Mutant{kGood10, "\"16667\"", "\"16667\", \"@device_vnic_port\": \"16668\"",
                  kUndocumented, "server_list[0].device[0].device_vnic_port"},
           Mutant{kGood10, "\"16667\"", "\"16667\", \"@net_protocol\": \"rdma\"", kUndocumented,
                  "server_list[0].device[0].net_protocol"},
           Mutant{kGood12, "\"42008577\"", "@\"42008577u\"", kUndocumented,
                  kDevice1 + "super_device_id"},
       }) {
    Mutant warned = mutant;
    warned.severity = kWarning;
    expect_found(warned);
  }
  const CheckedTable zone = check_table(with(kGoodLab, "192.0.2.9", "fe80::1%eth0"));
  EXPECT_EQ(zone.count(Severity::kError), 0U);
  EXPECT_THAT(listed(zone), HasSubstr("CR-TAB85 " + kLabDevice1 + "device_ip"));
}

}  // namespace
}  // namespace commrig::topo
