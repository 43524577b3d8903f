// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/fix.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace commrig::topo {
namespace {

std::string described(const JsonDocument& document, const TableFinding& finding) {
  const Edit& edit = *finding.edit;
  const Position place = document.position(edit.span.begin);
  const std::string_view old =
      document.source().substr(edit.span.begin, edit.span.end - edit.span.begin);
  std::string change = old.empty()         ? fmt::format("`{}` is put in", edit.text)
                       : edit.text.empty() ? fmt::format("`{}` is removed", old)
                                           : fmt::format("`{}` becomes `{}`", old, edit.text);
  return fmt::format("{}:{} {}: {}", place.line, place.column, info(finding.rule).id, change);
}

}  // namespace

FixedTable fix_table(const CheckedTable& table) {
  std::vector<const TableFinding*> findings;
  for (const TableFinding& finding : table.findings) {
    if (finding.edit) findings.push_back(&finding);
  }
  std::ranges::sort(findings, {}, [](const TableFinding* finding) {
    return std::pair(finding->edit->span.begin, finding->edit->span.end);
  });
  FixedTable fixed;
  const std::string_view source = table.document.source();
  std::size_t at = 0;
  for (const TableFinding* finding : findings) {
    const Span span = finding->edit->span;
    if (span.begin < at) continue;
    fixed.text += source.substr(at, span.begin - at);
    fixed.text += finding->edit->text;
    fixed.changes.push_back(described(table.document, *finding));
    at = span.end;
  }
  fixed.text += source.substr(at);
  return fixed;
}

}  // namespace commrig::topo
