// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/syntax.h"

#include <fmt/format.h>

namespace commrig::topo {
namespace {

Rule rule_of(SyntaxKind kind) {
  switch (kind) {
    case SyntaxKind::kComment:
      return Rule::kComment;
    case SyntaxKind::kExtraComma:
      return Rule::kExtraComma;
    case SyntaxKind::kMissingComma:
      return Rule::kMissingComma;
    case SyntaxKind::kQuotes:
      return Rule::kQuotes;
    case SyntaxKind::kEllipsis:
      return Rule::kEllipsis;
    case SyntaxKind::kDuplicateKey:
      return Rule::kDuplicateKey;
    case SyntaxKind::kTextAfterEnd:
      return Rule::kTextAfterEnd;
    case SyntaxKind::kMalformed:
      break;
  }
  return Rule::kMalformed;
}

}  // namespace

void add_syntax(const JsonDocument& document, Findings& findings) {
  for (const SyntaxFault& fault : document.faults()) {
    TableFinding& finding = findings.add_span(rule_of(fault.kind), fault.span);
    finding.edit = fault.edit;
    // The titles of the others say it already.
    const bool plain =
        fault.kind == SyntaxKind::kComment || fault.kind == SyntaxKind::kExtraComma ||
        fault.kind == SyntaxKind::kMissingComma || fault.kind == SyntaxKind::kEllipsis ||
        fault.kind == SyntaxKind::kTextAfterEnd;
    if (!plain) finding.detail = fault.what;
  }
  if (document.faults_dropped() == 0) return;
  const auto end = static_cast<std::uint32_t>(document.source().size());
  findings.add_span(Rule::kMalformed, {end, end}).detail =
      fmt::format("and {} more faults of the text", document.faults_dropped());
}

}  // namespace commrig::topo
