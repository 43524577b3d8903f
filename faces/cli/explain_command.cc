// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/codes.h"
#include "base/edit_distance.h"
#include "faces/cli/commands.h"
#include "faces/cli/report.h"
#include "topo/rule.h"
#include "topo/table_finding.h"

namespace commrig::cli {
namespace {

constexpr std::size_t kSuggestionsMax = 5;

// What an id stands for: an error's, or that of a finding in a rank table.
struct Entry {
  std::string_view id;
  std::string_view title;
  std::string_view advice;
  std::string explanation;
};

std::vector<Entry> all_entries() {
  std::vector<Entry> entries;
  for (const CodeInfo& row : all_codes()) {
    entries.push_back({row.id, row.title, row.advice, std::string(row.explanation)});
  }
  for (const topo::RuleInfo& row : topo::all_rules()) {
    std::string explanation = fmt::format("{} Severity: {}.", row.explanation, name(row.severity));
    if (!row.reaction.empty()) {
      explanation += fmt::format(
          " HCCL: {}.", topo::hccl_reaction({.rule = row.rule, .found = "...", .variable = "..."}));
    }
    entries.push_back({row.id, row.title, row.advice, std::move(explanation)});
  }
  return entries;
}

int list_all() {
  for (const Entry& row : all_entries()) {
    std::printf("%s\n", fmt::format("{:<9} {}", row.id, row.title).c_str());
  }
  return kExitOk;
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// The first few of the ids that are nearest to what was typed.
std::string closest(std::string_view typed) {
  const std::string id = upper_case(typed.substr(0, 32));
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::vector<std::string_view> nearest;
  for (const Entry& row : all_entries()) {
    const std::size_t changes = edit_distance(id, row.id);
    if (changes < least) nearest.clear();
    if (changes <= least && nearest.size() < kSuggestionsMax) nearest.push_back(row.id);
    least = std::min(least, changes);
  }
  return fmt::format("{}", fmt::join(nearest, ", "));
}

// In small letters, or without the first part, an id is meant all the same.
std::optional<Entry> find_typed(const std::string& typed) {
  const std::string id = upper_case(typed);
  for (Entry& row : all_entries()) {
    if (row.id == id || row.id == "CR-" + id) return std::move(row);
  }
  return {};
}

int explain(const std::string& id) {
  const std::optional<Entry> row = find_typed(id);
  if (!row) {
    return report_error(
        Error::make(Code::kBadArgument,
                    fmt::format("\"{}\" is no id; close to it: {}; `commrig explain` lists all", id,
                                closest(id))));
  }
  std::printf("%s\n", fmt::format("{}: {}\n\n{}\n\nWhat to do: {}.", row->id, row->title,
                                  row->explanation, row->advice)
                          .c_str());
  return kExitOk;
}

// The text in lines of at most 100 columns.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 100;
  std::string out;
  std::size_t column = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool fits = column + 1 + word.size() <= kColumns;
    if (column != 0) out += fits ? ' ' : '\n';
    column = column != 0 && fits ? column + 1 + word.size() : word.size();
    out += word;
    start = end + 1;
  }
  return out;
}

// docs/errors.md.
int print_page() {
  std::printf("# Error ids\n\n%s\n",
              wrapped("What `commrig explain ID` prints, as one page: the output of `commrig "
                      "explain --page`. An id is never renumbered and never used again.")
                  .c_str());
  for (const Entry& row : all_entries()) {
    std::printf(
        "%s", fmt::format("\n## {}: {}\n\n{}\n\n{}\n", row.id, row.title, wrapped(row.explanation),
                          wrapped(fmt::format("What to do: {}.", row.advice)))
                  .c_str());
  }
  return kExitOk;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("explain", "What an error id means, or the list of all");
  const auto id = std::make_shared<std::string>();  // shared with the callback below
  CLI::Option* const option = command->add_option("id", *id, "for example CR-MC210");
  const auto page = std::make_shared<bool>(false);  // shared likewise
  command->add_flag("--page", *page, "Print everything about all ids, as a page in Markdown")
      ->excludes(option);
  command->callback([id, option, page, &exit_code] {
    if (*page) {
      exit_code = print_page();
    } else {
      exit_code = option->count() == 0 ? list_all() : explain(*id);
    }
  });
}

}  // namespace commrig::cli
