// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// Making, writing, converting, merging, mending, comparing: what comes out is checked as any table.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/check.h"
#include "topo/convert.h"
#include "topo/fix.h"
#include "topo/make.h"
#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"
#include "topo/view.h"
#include "topo/write.h"

namespace commrig::topo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<MakeHost> hosts(int count) {
  std::vector<MakeHost> out;
  for (int i = 0; i < count; ++i) out.push_back({.id = "node_" + std::to_string(i)});
  return out;
}

std::size_t worse_than_notes(const CheckedTable& table) {
  return table.count(Severity::kError) + table.count(Severity::kWarning);
}

Cluster read(std::string_view text) {
  CheckedTable table = check_table(std::string(text));
  EXPECT_EQ(table.count(Severity::kError), 0U) << listed(table);
  return std::move(table.cluster);
}

TEST(MakeCluster, MadeTablesAreCleanInEveryVersionAndSize) {
  struct Size {
    int servers;
    int devices;
  };
  for (const Form form : {Form::kV10, Form::kV12, Form::kV20}) {
    for (const Size size : {Size{1, 1}, Size{1, 8}, Size{2, 8}, Size{24, 16}, Size{1024, 16}}) {
      const auto cluster = make_cluster({.form = form,
                                         .hosts = hosts(size.servers),
                                         .devices = size.devices,
                                         .address = "10.0.0.1",
                                         .pod_servers = 24});
      ASSERT_TRUE(cluster) << cluster.error().message;
      const CheckedTable table = check_table(write_table(*cluster, form).value());
      EXPECT_EQ(worse_than_notes(table), 0U) << listed(table);
      EXPECT_EQ(table.cluster.form, form);
      EXPECT_EQ(table.cluster.ranks.size(), static_cast<std::size_t>(size.servers * size.devices));
    }
  }
}

TEST(MakeCluster, AddressesCountUpOrFollowAPattern) {
  const auto counted = make_cluster({.hosts = hosts(2), .devices = 2, .address = "192.0.2.255"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->ranks[0].device_ip, "192.0.2.255");
  EXPECT_EQ(counted->ranks[3].device_ip, "192.0.3.2");
  const auto patterned =
      make_cluster({.hosts = hosts(2), .devices = 2, .address = "10.{host}.{device}.{rank}"});
  ASSERT_TRUE(patterned);
  EXPECT_EQ(patterned->ranks[3].device_ip, "10.1.1.3");
}

TEST(MakeCluster, WhatDoesNotFitIsRefusedByName) {
  const auto why = [](const MakeOptions& options) {
    const auto cluster = make_cluster(options);
    return cluster ? std::string() : cluster.error().message;
  };
  EXPECT_THAT(why({}), HasSubstr("no hosts"));
  EXPECT_THAT(why({.hosts = hosts(1), .devices = 0}), HasSubstr("expected 1 to 32"));
  EXPECT_THAT(why({.form = Form::kV12, .hosts = hosts(1), .devices = 17}), HasSubstr("1 to 16"));
  EXPECT_THAT(why({.hosts = {{.id = "a"}, {.id = "a"}}}), HasSubstr("host \"a\" twice"));
  EXPECT_THAT(why({.hosts = {{.id = "a", .host_ip = "x"}}}), HasSubstr("no address"));
  EXPECT_THAT(why({.hosts = hosts(1), .address = "nowhere"}), HasSubstr("neither"));
  EXPECT_THAT(why({.hosts = hosts(300), .address = "10.0.{host}.{device}"}),
              HasSubstr("for host 256"));
  EXPECT_THAT(why({.hosts = hosts(1), .address = "255.255.255.255"}), HasSubstr("not so many"));
  EXPECT_THAT(why({.form = Form::kV12, .hosts = hosts(1025)}), HasSubstr("super pod"));
  EXPECT_THAT(why({.hosts = {{.id = "a", .addresses = {{0, "192.0.2.1"}}}}}),
              HasSubstr("has no address_1"));
}

TEST(ParseHccn, AddressesAreTakenByDeviceAndNothingIsGuessed) {
  const auto parsed =
      parse_hccn("address_0=192.0.2.1\r\nnetmask_0=255.255.255.0\naddress_11=192.0.2.9");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->at(0), "192.0.2.1");
  EXPECT_EQ(parsed->at(11), "192.0.2.9");
  for (const char* const bad : {"", "netmask_0=1", "address_0=", "address_x=192.0.2.1",
                                "address_0=192.0.2.1\naddress_0=192.0.2.2"}) {
    EXPECT_FALSE(parse_hccn(bad)) << bad;
  }
}

TEST(WriteTable, WhatIsReadAndWrittenAgainIsTheSame) {
  for (const auto& [text, form] :
       {std::pair(kGood10, Form::kV10), {kGood12, Form::kV12}, {kGood20, Form::kV20}}) {
    const Cluster before = read(text);
    const Cluster after = read(write_table(before, form).value());
    EXPECT_THAT(differences(before, after), IsEmpty());
  }
  EXPECT_FALSE(write_table(read(kGood11), Form::kV11));
}

TEST(WriteTable, NamesAreEscaped) {
  EXPECT_EQ(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(ConvertCluster, WhatBothVersionsHoldComesBack) {
  const auto made = make_cluster({.form = Form::kV12,
                                  .hosts = hosts(4),
                                  .devices = 2,
                                  .address = "192.0.2.1",
                                  .pod_servers = 2});
  ASSERT_TRUE(made);
  const auto there = convert_cluster(*made, {.form = Form::kV20, .port = "0/0"});
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_THAT(there->lost, ElementsAre("super_device_id of 8 ranks"));
  const Cluster read_there = read(write_table(there->cluster, Form::kV20).value());
  const auto back = convert_cluster(read_there, {.form = Form::kV12});
  ASSERT_TRUE(back);
  const std::string text = write_table(back->cluster, Form::kV12).value();
  // Only the numbers of devices in their super pods are gone.
  for (const std::string& line : differences(*made, check_table(text).cluster)) {
    EXPECT_THAT(line, HasSubstr("super_device_id"));
  }
  EXPECT_THAT(back->missing, ElementsAre(HasSubstr("super_device_id")));
}

TEST(ConvertCluster, TenAndTwelveDifferInSuperPodsOnly) {
  const Cluster source = read(kGood12);
  const auto down = convert_cluster(source, {.form = Form::kV10});
  ASSERT_TRUE(down);
  EXPECT_THAT(down->lost, ElementsAre("super_device_id of 6 ranks", "2 super pods"));
  const CheckedTable table = check_table(write_table(down->cluster, Form::kV10).value());
  EXPECT_EQ(worse_than_notes(table), 0U) << listed(table);
  const auto up = convert_cluster(table.cluster, {.form = Form::kV12});
  ASSERT_TRUE(up);
  EXPECT_EQ(up->missing.size(), 2U);
  EXPECT_EQ(check_table(write_table(up->cluster, Form::kV12).value()).count(Severity::kError), 0U);
}

TEST(ConvertCluster, NothingIsGuessed) {
  const auto without_port = convert_cluster(read(kGood10), {.form = Form::kV20});
  ASSERT_FALSE(without_port);
  EXPECT_THAT(without_port.error().message, HasSubstr("--port"));
  const auto without_device = convert_cluster(read(kGood11), {.form = Form::kV10});
  ASSERT_FALSE(without_device);
  EXPECT_THAT(without_device.error().message, HasSubstr("rank 2 has no device"));
}

TEST(ConvertCluster, TheOldTemplateBecomesOneDotZero) {
  for (const std::string_view text : {kGoodCloud, kGoodLab}) {
    const Cluster source = read(text);
    const auto converted = convert_cluster(source, {.form = Form::kV10});
    ASSERT_TRUE(converted);
    const Cluster after = read(write_table(converted->cluster, Form::kV10).value());
    EXPECT_THAT(differences(source, after), IsEmpty());
  }
}

TEST(MergeClusters, RanksAreNumberedPartByPart) {
  std::vector<Cluster> parts;
  for (int i = 0; i < 3; ++i) {
    const auto part = make_cluster({.form = Form::kV12,
                                    .hosts = {{.id = "host_" + std::to_string(i)}},
                                    .devices = 2,
                                    .address = "192.0.2." + std::to_string(10 * i)});
    ASSERT_TRUE(part);
    parts.push_back(*part);
  }
  std::swap(parts[0], parts[1]);
  const auto merged = merge_clusters(parts);
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->ranks.size(), 6U);
  EXPECT_EQ(merged->servers[0].id, "host_1");
  EXPECT_EQ(merged->ranks[2].device_ip, "192.0.2.0");
  EXPECT_EQ(merged->ranks[2].id, 2);
  ASSERT_EQ(merged->pods.size(), 1U);
  EXPECT_THAT(merged->pods[0].servers, ElementsAre(0, 1, 2));
}

TEST(MergeClusters, TheSameServerTwiceAndTwoFormsAreRefused) {
  const Cluster ten = read(kGood10);
  EXPECT_THAT(merge_clusters({ten, ten}).error().message, HasSubstr("server \"node_0\""));
  EXPECT_THAT(merge_clusters({ten, read(kGood12)}).error().message, HasSubstr("one table"));
}

TEST(FixTable, WhatNeedsNoGuessIsMendedAndListed) {
  const std::string broken =
      "{\n  'status': \"completed\", // written\n  \"version\": \"1.0\"\n  \"server_count\": 1,\n"
      "  \"server_list\": [{\"server_id\": \"a\", \"device\": [\n"
      "    {\"device_id\": 0, \"device_ip\": \"192.0.2.1\", \"rank_id\": 0,},\n  ]}]\n}\n";
  const FixedTable fixed = fix_table(check_table(broken));
  const CheckedTable after = check_table(fixed.text);
  EXPECT_EQ(worse_than_notes(after), 0U) << listed(after) << fixed.text;
  EXPECT_EQ(fixed.changes.size(), 8U);
  EXPECT_EQ(fixed.changes[0], "2:3 CR-TAB04: `'status'` becomes `\"status\"`");
}

TEST(FixTable, AddressesRanksAndWhatWasLeftOutStayAsTheyAre) {
  for (const char* const from : {"\"192.0.2.19\"", "\"rank_id\": \"3\""}) {
    std::string text(kGood10);
    const std::string_view to =
        *from == '"' && from[1] == '1' ? "\"-.-.-.-\"" : "\"rank_id\": \"2\"";
    text.replace(text.find(from), std::string_view(from).size(), to);
    const FixedTable fixed = fix_table(check_table(text));
    EXPECT_EQ(fixed.text, text);
    EXPECT_THAT(fixed.changes, IsEmpty());
  }
  const std::string elided = "{\"server_list\": [...]}";
  EXPECT_EQ(fix_table(check_table(elided)).text, elided);
}

TEST(Differences, AreNamedByRankAndServer) {
  const Cluster before = read(kGood10);
  Cluster after = before;
  after.ranks[3].device_ip = "192.0.2.99";
  after.servers[0].host_ip.clear();
  EXPECT_THAT(differences(before, after), ElementsAre("rank 3: device_ip 192.0.2.19 -> 192.0.2.99",
                                                      "server node_0: host_ip 198.51.100.1 -> -"));
  after.ranks.pop_back();
  EXPECT_THAT(differences(before, after), testing::Contains("rank 3: only in the first"));
  EXPECT_THAT(differences(after, before), testing::Contains("rank 3: only in the second"));
}

TEST(RankTableText, HasALineARankAndTheColumnsThatAreUsed) {
  const std::string ten = rank_table_text(read(kGood10));
  EXPECT_THAT(ten, HasSubstr("rank  server  device  address     port\n"
                             "0     node_0  0       192.0.2.8   16667\n"));
  const std::string twelve = rank_table_text(read(kGood12));
  EXPECT_THAT(twelve, HasSubstr("5     1          node_2  1       192.0.2.29  "
                                "37814273 (server 9, device 1)\n"));
}

}  // namespace
}  // namespace commrig::topo
