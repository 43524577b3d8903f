// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// One fault of each kind at every place of the good tables: what each version requires stands here
// once more, as data, so that a reader that forgets a key or a type is found.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/check.h"
#include "topo/mutants_for_test.h"
#include "topo/tables_for_test.h"

namespace commrig::topo {
namespace {

using enum Rule;

// The keys of a good table that HCCL requires and reads, as paths without the numbers of lists.
struct Version {
  std::string_view name;
  std::string_view table;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  std::vector<std::string_view> unread;  // may be of any type

  bool requires_key(std::string_view path) const { return std::ranges::count(required, path) != 0; }
  bool ignores(std::string_view path) const { return std::ranges::count(unread, path) != 0; }
};

const std::vector<Version>& versions() {
  static const std::vector<Version> all{
      {"cloud",
       kGoodCloud,
       {"status", "group_count", "group_list", "group_list.group_name", "group_list.instance_count",
        "group_list.device_count", "group_list.instance_list", "group_list.instance_list.pod_name",
        "group_list.instance_list.server_id", "group_list.instance_list.devices",
        "group_list.instance_list.devices.device_id", "group_list.instance_list.devices.device_ip"},
       {},
       {}},
      {"lab",
       kGoodLab,
       {"status", "para_plane_nic_location", "group_count", "group_list", "group_list.group_name",
        "group_list.device_num", "group_list.server_num", "group_list.instance_count",
        "group_list.instance_list", "group_list.instance_list.rank_id",
        "group_list.instance_list.server_id", "group_list.instance_list.devices",
        "group_list.instance_list.devices.device_id", "group_list.instance_list.devices.device_ip"},
       {"deploy_mode"},
       {"board_id", "chip_info"}},
      {"1.0",
       kGood10,
       {"status", "version", "server_list", "server_list.server_id", "server_list.device",
        "server_list.device.device_id", "server_list.device.rank_id"},
       {"server_count", "server_list.host_ip", "server_list.device.device_ip",
        "server_list.device.device_port", "server_list.device.host_port"},
       {"server_list.container_ip"}},
      {"1.1",
       kGood11,
       {"status", "version", "collective_id", "node_list", "node_list.node_addr", "node_list.ranks",
        "node_list.ranks.rank_id"},
       {"mode", "node_list.ranks.device_id", "node_list.ranks.port", "node_list.ranks.rank_ip"},
       {}},
      {"1.1 of A3",
       kGood11A3,
       {"status", "version", "collective_id", "node_list", "node_list.node_addr", "node_list.ranks",
        "node_list.ranks.rank_id", "node_list.ranks.device_id", "node_list.ranks.port",
        "node_list.ranks.rank_ip", "node_list.ranks.sdid", "node_list.ranks.bind_device_id"},
       {"heterog_sub_version"},
       {}},
      {"1.2",
       kGood12,
       {"status", "version", "server_list", "server_list.server_id", "server_list.device",
        "server_list.device.device_id", "server_list.device.rank_id", "super_pod_list.server_list",
        "super_pod_list.server_list.server_id"},
       {"server_count", "super_pod_list", "super_pod_list.super_pod_id",
        "server_list.device.device_ip", "server_list.device.backup_device_ip",
        "server_list.device.super_device_id"},
       {}},
      {"2.0",
       kGood20,
       {"version", "rank_count", "rank_list", "rank_list.rank_id", "rank_list.local_id",
        "rank_list.replaced_local_id", "rank_list.device_id", "rank_list.level_list",
        "rank_list.level_list.net_layer", "rank_list.level_list.net_instance_id",
        "rank_list.level_list.rank_addr_list", "rank_list.level_list.rank_addr_list.addr_type",
        "rank_list.level_list.rank_addr_list.addr", "rank_list.level_list.rank_addr_list.ports",
        "rank_list.control_plane.addr_type", "rank_list.control_plane.addr",
        "rank_list.control_plane.listen_port"},
       {"status", "detour", "rank_list.device_port", "rank_list.control_plane",
        "rank_list.level_list.net_type", "rank_list.level_list.rank_addr_list.plane_id",
        "rank_list.level_list.rank_addr_list.backup_addr"},
       {}},
  };
  return all;
}

// "server_list.device.rank_id" of server_list[0].device[3].rank_id.
std::string without_numbers(const std::string& path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) out += c;
    if (c == ']') inside = false;
  }
  return out;
}

// Calls `visit(document, node, path without numbers)` for every member of an object of the table.
template <typename Visit>
void for_each_member(const Version& version, Visit visit) {
  const JsonDocument document = JsonDocument::parse(std::string(version.table));
  for (Node node = 1; node < document.node_count(); ++node) {
    if (!document.is(document.parent(node), JsonKind::kObject)) continue;
    visit(document, node, without_numbers(document.path(node)));
  }
}

std::string replaced(const JsonDocument& document, Span span, std::string_view by) {
  std::string text(document.source());
  return text.replace(span.begin, span.end - span.begin, by);
}

// The table without a member, and without the comma that separated it.
std::string without(const JsonDocument& document, Node member) {
  std::string text(document.source());
  std::size_t begin = text.rfind('"', document.key_span(member).begin);
  std::size_t end = document.span(member).end;
  if (document.next(member) != kNoNode) {
    end = text.find(',', end) + 1;
  } else if (document.size(document.parent(member)) > 1) {
    begin = text.rfind(',', begin);
  }
  return text.erase(begin, end - begin);
}

// Where a fault of that rule is found, as "path line".
std::vector<std::string> places_of(const CheckedTable& table, Rule rule) {
  std::vector<std::string> places;
  for (const TableFinding& finding : table.findings) {
    if (finding.rule != rule || finding.severity != Severity::kError) continue;
    const Position place = table.document.position(finding.span.begin);
    places.push_back(finding.path + " " + std::to_string(place.line));
  }
  return places;
}
std::string place_of(const JsonDocument& document, Node node) {
  return document.path(node) + " " +
         std::to_string(document.position(document.span(node).begin).line);
}

TEST(GeneratedMutants, TheGoodTablesHaveNoErrorAndEveryKeyOfThemIsListed) {
  for (const Version& version : versions()) {
    SCOPED_TRACE(version.name);
    const CheckedTable table = check_table(std::string(version.table));
    EXPECT_EQ(table.count(Severity::kError) + table.count(Severity::kWarning), 0U) << listed(table);
    for_each_member(version, [&](const JsonDocument&, Node, const std::string& path) {
      const auto in = [&](const auto& keys) { return std::ranges::count(keys, path); };
      EXPECT_EQ(in(version.required) + in(version.optional) + in(version.unread), 1) << path;
    });
  }
}

TEST(GeneratedMutants, AMissingKeyIsAnErrorWhereItIsRequiredAndNowhereElse) {
  for (const Version& version : versions()) {
    for_each_member(version, [&](const JsonDocument& document, Node node, const std::string& path) {
      if (path == "deploy_mode") return;  // without it, it is the cloud form
      SCOPED_TRACE(std::string(version.name) + " without " + document.path(node));
      const CheckedTable table = check_table(without(document, node));
      ASSERT_TRUE(table.document.faults().empty()) << table.document.source();
      const std::vector<std::string> places = places_of(table, kMissingKey);
      if (!version.requires_key(path)) {
        EXPECT_TRUE(places.empty()) << listed(table);
        return;
      }
      ASSERT_EQ(places, std::vector{place_of(document, document.parent(node))}) << listed(table);
      const auto found = std::ranges::find(table.findings, kMissingKey, &TableFinding::rule);
      EXPECT_EQ(hccl_reaction(*found),
                "EI0017: the key " + std::string(document.key(node)) + " is missing");
    });
  }
}

// Each value as one of another JSON type.
TEST(GeneratedMutants, AValueOfAnotherTypeIsAnErrorWhereItIsRead) {
  constexpr std::array<std::string_view, 6> kOthers{"7", "\"x\"", "true", "null", "{}", "[7]"};
  const auto fits = [](JsonKind kind, std::string_view other) {
    return (kind == JsonKind::kNumber && other == "7") ||
           (kind == JsonKind::kString && other == "\"x\"") ||
           (kind == JsonKind::kObject && other == "{}") ||
           (kind == JsonKind::kArray && (other == "[7]" || other == "null"));
  };
  for (const Version& version : versions()) {
    for_each_member(version, [&](const JsonDocument& document, Node node, const std::string& path) {
      // Without these it is another kind of table.
      if (path == "version" || path == "deploy_mode" || path == "heterog_sub_version") return;
      for (const std::string_view other : kOthers) {
        if (fits(document.kind(node), other)) continue;
        SCOPED_TRACE(document.path(node) + " of " + std::string(version.name) + " as " +
                     std::string(other));
        const CheckedTable table = check_table(replaced(document, document.span(node), other));
        const std::vector<std::string> places = places_of(table, kWrongType);
        if (version.ignores(path)) {
          EXPECT_TRUE(places.empty()) << listed(table);
        } else {
          EXPECT_EQ(places, std::vector{place_of(document, node)}) << listed(table);
        }
      }
    });
  }
}

TEST(GeneratedMutants, AnEmptyOrAbsentListIsAnError) {
  for (const Version& version : versions()) {
    for_each_member(version, [&](const JsonDocument& document, Node node, const std::string& path) {
      if (!document.is(node, JsonKind::kArray)) return;
      for (const std::string_view other : {"[]", "null"}) {
        SCOPED_TRACE(document.path(node) + " of " + std::string(version.name) + " as " +
                     std::string(other));
        const CheckedTable table = check_table(replaced(document, document.span(node), other));
        // These two may be empty.
        const bool may = path.ends_with("rank_addr_list") || path.ends_with("backup_addr");
        const Rule rule = may && other == "null" ? kWrongType : kEmptyList;
        const std::vector<std::string> places = places_of(table, rule);
        if (may && other == "[]") {
          EXPECT_TRUE(places.empty()) << listed(table);
        } else {
          EXPECT_EQ(places, std::vector{place_of(document, node)}) << listed(table);
        }
      }
    });
  }
}

TEST(GeneratedMutants, FaultsOfTheTextAreFoundInEveryVersion) {
  for (const Version& version : versions()) {
    SCOPED_TRACE(version.name);
    const std::string good(version.table);
    const std::size_t comma = good.find(',');
    const std::size_t end = good.rfind('\n', good.rfind('}'));
    const auto expect_one = [](std::string text, Rule rule, std::size_t place) {
      const CheckedTable table = check_table(std::move(text));
      ASSERT_EQ(table.count(Severity::kError), 1U) << listed(table);
      const auto found =
          std::ranges::find(table.findings, Severity::kError, &TableFinding::severity);
      EXPECT_EQ(found->rule, rule) << listed(table);
      EXPECT_EQ(found->span.begin, place);
      EXPECT_EQ(hccl_reaction(*found), "EI0004: the file is no JSON");
    };
    expect_one(std::string(good).insert(comma + 1, " // a comment"), kComment, comma + 2);
    expect_one(std::string(good).insert(end, ","), kExtraComma, end);
    expect_one(std::string(good).erase(comma, 1), kMissingComma, comma);
    const std::size_t key = good.find('"');
    const std::size_t key_end = good.find('"', key + 1);
    expect_one(std::string(good).replace(key_end, 1, "'").replace(key, 1, "'"), kQuotes, key);
  }
}

TEST(GeneratedMutants, AStatusThatIsNotCompletedIsWaitedForBefore20) {
  for (const Version& version : versions()) {
    for (const std::string_view other : {"initializing", "complete", "Completed", ""}) {
      SCOPED_TRACE(std::string(version.name) + " " + std::string(other));
      std::string text(version.table);
      const std::size_t at = text.find("\"completed\"");
      text.replace(at + 1, 9, other);
      const CheckedTable table = check_table(text);
      const auto found = std::ranges::find(table.findings, kNotCompleted, &TableFinding::rule);
      ASSERT_NE(found, table.findings.end()) << listed(table);
      EXPECT_EQ(found->path, "status");
      EXPECT_EQ(found->span.begin, at);
      const bool waits = table.cluster.form != Form::kV20;
      EXPECT_EQ(found->severity, waits ? Severity::kError : Severity::kWarning);
      EXPECT_THAT(hccl_reaction(*found), testing::StartsWith(waits ? "EI0004" : "none: accepted"));
      EXPECT_EQ(table.count(Severity::kError), waits ? 1U : 0U) << listed(table);
    }
  }
}

}  // namespace
}  // namespace commrig::topo
