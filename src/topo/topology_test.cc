// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/topology.h"

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"

namespace commrig::topo {
namespace {

using testing::HasSubstr;

std::string changed(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  EXPECT_NE(out.find(from), std::string::npos) << from;
  return out.replace(out.find(from), from.size(), to);
}

TEST(Topology, AGoodOneHasNoFindingsAndFitsItsTable) {
  const CheckedTopology checked = check_topology(std::string(kGoodTopology));
  EXPECT_TRUE(checked.table.findings.empty()) << listed(checked.table);
  EXPECT_EQ(checked.topology.peers.size(), 3U);
  CheckedTable table = check_table(std::string(kGood20));
  check_against(checked.topology, table);
  EXPECT_EQ(table.count(Severity::kError), 0U) << listed(table);
}

TEST(Topology, CountsPeersAndLinksAreChecked) {
  for (const auto& [from, to, expected] :
       {std::tuple("\"peer_count\": 3", "\"peer_count\": 2", "CR-TAB81 peer_count 3:17"),
        {"{\"local_id\": 1}", "{\"local_id\": 0}", "CR-TAB81 peer_list[1].local_id"},
        {"{\"local_id\": 1}", "{\"local_id\": 65}", "CR-TAB81 peer_list[1].local_id"},
        {"\"edge_count\": 2", "\"edge_count\": 3", "CR-TAB82 edge_count"},
        {"\"UB_CTP\"", "\"UDP\"", "CR-TAB82 edge_list[0].protocols[0]"},
        {"\"PEER2NET\"", "\"PEER\"", "CR-TAB82 edge_list[1].link_type"},
        {"\"1DMESH\"", "\"RING\"", "CR-TAB82 edge_list[0].topo_type"},
        {"\"local_b\": 1", "\"local_b\": 7", "CR-TAB82 edge_list[0].local_b"},
        {"\"local_b\": 1, \"local_b_ports\": [\"0/4\"], ", "", "CR-TAB18 edge_list[0]"},
        {"\"version\": \"2.0\"", "\"version\": \"1.0\"", "CR-TAB14 version"}}) {
    const CheckedTopology checked = check_topology(changed(kGoodTopology, from, to));
    EXPECT_THAT(listed(checked.table), HasSubstr(expected)) << to;
  }
}

TEST(Topology, RanksAndPortsThatItLacksAreNamedInTheTable) {
  const Topology topology = check_topology(std::string(kGoodTopology)).topology;
  CheckedTable table = check_table(changed(kGood20, "\"local_id\": 1,", "\"local_id\": 2,"));
  check_against(topology, table);
  EXPECT_THAT(listed(table), HasSubstr("CR-TAB83 rank_list[1].local_id"));
  table = check_table(changed(kGood20, "[\"0/5\", \"0/6\"]", "[\"0/5\", \"1/6\"]"));
  check_against(topology, table);
  EXPECT_THAT(listed(table),
              HasSubstr("CR-TAB83 rank_list[0].level_list[1].rank_addr_list[0].ports[1]"));
}

TEST(Topology, AnotherFileIsNamed) {
  const CheckedTopology checked = check_topology(std::string(kGood20));
  EXPECT_THAT(listed(checked.table), HasSubstr("expected a topology file"));
}

}  // namespace
}  // namespace commrig::topo
