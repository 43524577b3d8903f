// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "faces/cli/ranktable/check_report.h"

namespace commrig::cli {
namespace {

using nlohmann::ordered_json;
using topo::JsonDocument;
using topo::Position;
using topo::TableFinding;

// What is no UTF-8 in a table is none in its report.
std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json place_json(const JsonDocument& document, topo::Span span, const std::string& path) {
  const Position begin = document.position(span.begin);
  const Position end = document.position(span.end);
  return {{"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column},
          {"path", path}};
}

ordered_json finding_json(const JsonDocument& document, const TableFinding& finding) {
  const topo::RuleInfo& rule = topo::info(finding.rule);
  ordered_json json{{"id", rule.id}, {"severity", name(finding.severity)}};
  json.update(place_json(document, finding.span, finding.path));
  json["title"] = rule.title;
  json["found"] = finding.found;
  json["expected"] = finding.expected;
  json["detail"] = finding.detail;
  json["correction"] = topo::correction(finding);
  const std::string reaction = topo::hccl_reaction(finding);
  json["hccl"] = {{"code", reaction.substr(0, reaction.find(':'))}, {"text", reaction}};
  json["fixable"] = finding.edit.has_value();
  json["related"] = ordered_json::array();
  for (const topo::Related& other : finding.related) {
    json["related"].push_back(place_json(document, other.span, other.path));
  }
  return json;
}

std::string_view level(topo::Severity severity) {
  return name(severity);  // SARIF has the same three words
}

ordered_json region(const JsonDocument& document, topo::Span span) {
  const Position begin = document.position(span.begin);
  const Position end = document.position(span.end);
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

ordered_json location(const CheckedFile& file, topo::Span span, const std::string& path) {
  ordered_json json{{"physicalLocation",
                     {{"artifactLocation", {{"uri", file.name}}},
                      {"region", region(file.table.document, span)}}}};
  if (!path.empty()) {
    json["logicalLocations"] = ordered_json::array({{{"fullyQualifiedName", path}}});
  }
  return json;
}

ordered_json result_json(const CheckedFile& file, const TableFinding& finding) {
  ordered_json json{{"ruleId", topo::info(finding.rule).id},
                    {"ruleIndex", static_cast<int>(finding.rule)},
                    {"level", level(finding.severity)},
                    {"message",
                     {{"text", topo::sentence(finding) + ". " + std::string(correction(finding)) +
                                   ". HCCL: " + topo::hccl_reaction(finding)}}}};
  json["locations"] = ordered_json::array({location(file, finding.span, finding.path)});
  if (finding.related.empty()) return json;
  json["relatedLocations"] = ordered_json::array();
  for (const topo::Related& other : finding.related) {
    json["relatedLocations"].push_back(location(file, other.span, other.path));
  }
  return json;
}

ordered_json rules_json() {
  ordered_json rules = ordered_json::array();
  for (const topo::RuleInfo& rule : topo::all_rules()) {
    rules.push_back({{"id", rule.id},
                     {"shortDescription", {{"text", rule.title}}},
                     {"fullDescription", {{"text", rule.explanation}}},
                     {"help", {{"text", rule.advice}}},
                     {"defaultConfiguration", {{"level", level(rule.severity)}}}});
  }
  return rules;
}

}  // namespace

std::string report_json(const std::vector<CheckedFile>& files) {
  ordered_json list = ordered_json::array();
  for (const CheckedFile& file : files) {
    const topo::Cluster& cluster = file.table.cluster;
    ordered_json findings = ordered_json::array();
    for (const TableFinding& finding : file.table.findings) {
      findings.push_back(finding_json(file.table.document, finding));
    }
    list.push_back({{"file", file.name},
                    {"form", topo::describe(cluster.form)},
                    {"verdict", verdict(file.table)},
                    {"super_pods", cluster.pods.size()},
                    {"servers", cluster.servers.size()},
                    {"ranks", cluster.ranks.size()},
                    {"errors", file.table.count(topo::Severity::kError)},
                    {"warnings", file.table.count(topo::Severity::kWarning)},
                    {"notes", file.table.count(topo::Severity::kNote)},
                    {"findings", std::move(findings)}});
  }
  return dumped({{"files", std::move(list)}});
}

std::string report_sarif(const std::vector<CheckedFile>& files, const std::string& version) {
  ordered_json results = ordered_json::array();
  for (const CheckedFile& file : files) {
    for (const TableFinding& finding : file.table.findings) {
      results.push_back(result_json(file, finding));
    }
  }
  const ordered_json driver{
      {"name", "commrig ranktable"}, {"version", version}, {"rules", rules_json()}};
  ordered_json run{{"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}};
  run["results"] = std::move(results);
  return dumped({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", ordered_json::array({std::move(run)})}});
}

}  // namespace commrig::cli
