// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "faces/cli/ranktable/check_report.h"

namespace commrig::cli {
namespace {

using topo::JsonDocument;
using topo::Position;
using topo::Severity;
using topo::TableFinding;

// Columns of an excerpt; longer lines are cut around the place.
constexpr std::size_t kExcerptColumns = 90;

// Without what could move a terminal's cursor.
std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) c = c == '\t' ? ' ' : '?';
  }
  return out;
}

std::string place_text(const CheckedFile& file, const TableFinding& finding) {
  if (finding.path.empty() && finding.span.end == 0) return file.name;
  const Position place = file.table.document.position(finding.span.begin);
  return fmt::format("{}:{}:{}", file.name, place.line, place.column);
}

struct Character {
  std::string_view bytes;
  std::size_t columns;
};

// The characters of a line; those of East Asian scripts take two columns.
std::vector<Character> characters(std::string_view line) {
  std::vector<Character> out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) ++end;
    const auto first = static_cast<unsigned char>(line[at]);
    const bool wide = end - at == 3 && ((first >= 0xE3U && first <= 0xE9U) || first == 0xEFU);
    out.push_back({line.substr(at, end - at), wide ? std::size_t{2} : std::size_t{1}});
    at = end;
  }
  return out;
}

// The line and, below it, a caret at the place.
std::string excerpt(const JsonDocument& document, const TableFinding& finding) {
  const Position begin = document.position(finding.span.begin);
  const Position end = document.position(finding.span.end);
  const std::vector<Character> line = characters(document.line(begin.line));
  const std::size_t at = std::min(begin.column - 1, line.size());
  const std::size_t first =
      at > kExcerptColumns / 2 && line.size() > kExcerptColumns ? at - kExcerptColumns / 2 : 0;
  const std::size_t last = std::min(line.size(), first + kExcerptColumns);
  const std::size_t marked = begin.line == end.line
                                 ? std::clamp(end.column, begin.column + 1, last + 2) - begin.column
                                 : 1;
  std::string text = first > 0 ? "..." : "";
  std::string caret(text.size(), ' ');
  for (std::size_t i = first; i < last; ++i) {
    text += line[i].bytes;
    if (i < at) caret += std::string(line[i].columns, ' ');
  }
  if (last < line.size()) text += "...";
  const std::string number = std::to_string(begin.line);
  return fmt::format("    {} | {}\n    {} | {}^{}\n", number, printable(text),
                     std::string(number.size(), ' '), caret, std::string(marked - 1, '~'));
}

std::string details(const CheckedFile& file, const TableFinding& finding) {
  std::string text;
  if (!finding.path.empty() || finding.span.end != 0) {
    text += excerpt(file.table.document, finding);
  }
  for (const topo::Related& other : finding.related) {
    const Position place = file.table.document.position(other.span.begin);
    text += fmt::format("    also   {}:{}:{}  {}\n", file.name, place.line, place.column,
                        printable(other.path));
  }
  const std::string reaction = topo::hccl_reaction(finding);
  if (reaction != "none") text += fmt::format("    HCCL   {}\n", printable(reaction));
  text += fmt::format("    to do  {}\n", topo::correction(finding));
  return text;
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string size_text(const topo::Cluster& cluster) {
  std::string text = plural(cluster.servers.size(), "server");
  if (!cluster.pods.empty()) text += " in " + plural(cluster.pods.size(), "super pod");
  return text + ", " + plural(cluster.ranks.size(), "rank");
}

std::string_view verdict(const topo::CheckedTable& table) {
  if (!table.is_table()) return "no table";
  return table.count(Severity::kError) == 0 ? "good" : "bad";
}

std::string report_text(const CheckedFile& file, const TextOptions& options) {
  const topo::CheckedTable& table = file.table;
  std::map<topo::Rule, std::size_t> seen;
  std::vector<const TableFinding*> shown;
  for (const TableFinding& finding : table.findings) {
    if (++seen[finding.rule] <= kSameRuleMax || options.all) shown.push_back(&finding);
  }
  std::size_t width = 0;
  for (const TableFinding* finding : shown) {
    width = std::max(width, place_text(file, *finding).size());
  }
  std::string text;
  for (const TableFinding* finding : shown) {
    const std::string path = finding->path.empty() ? "" : finding->path + ": ";
    text += fmt::format("{:<{}}  {:<7}  {}  {}\n", place_text(file, *finding), width,
                        name(finding->severity), topo::info(finding->rule).id,
                        printable(path + topo::sentence(*finding)));
    if (!options.brief) text += details(file, *finding);
  }
  for (const auto& [rule, count] : seen) {
    if (count <= kSameRuleMax || options.all) continue;
    text += fmt::format("{}: and {} more of {} (--all prints them)\n", file.name,
                        count - kSameRuleMax, topo::info(rule).id);
  }
  text += fmt::format("{}: {}", file.name, topo::describe(table.cluster.form));
  if (table.is_table() && !table.cluster.ranks.empty()) text += ", " + size_text(table.cluster);
  return text + fmt::format(": {}, {}, {}\n", plural(table.count(Severity::kError), "error"),
                            plural(table.count(Severity::kWarning), "warning"),
                            plural(table.count(Severity::kNote), "note"));
}

}  // namespace commrig::cli
