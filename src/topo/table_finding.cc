// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/table_finding.h"

#include <algorithm>
#include <utility>

namespace commrig::topo {
namespace {

constexpr std::size_t kShownBytesMax = 80;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  if (const std::size_t at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// At most so much of a value that a line stays readable, cut between characters.
std::string shown(std::string_view raw) {
  if (raw.size() <= kShownBytesMax) return std::string(raw);
  std::size_t end = kShownBytesMax;
  while (end > 0 && (static_cast<unsigned char>(raw[end]) & 0xC0U) == 0x80U) --end;
  return std::string(raw.substr(0, end)) + "...";
}

}  // namespace

std::string hccl_reaction(const TableFinding& finding) {
  if (finding.accepted) return "none: accepted";
  if (!finding.reaction.empty()) return std::string(finding.reaction);
  const RuleInfo& rule = info(finding.rule);
  std::string text = std::string(rule.code);
  if (!rule.reaction.empty()) text += ": " + std::string(rule.reaction);
  text = replaced(std::move(text), "{variable}", finding.variable);
  return replaced(std::move(text), "{found}", finding.found.empty() ? "\"\"" : finding.found);
}

std::string sentence(const TableFinding& finding) {
  std::string text(info(finding.rule).title);
  if (!finding.found.empty()) text += "; found " + finding.found;
  if (!finding.expected.empty()) {
    text += (finding.found.empty() ? "; expected " : ", expected ") + finding.expected;
  }
  if (!finding.detail.empty()) text += "; " + finding.detail;
  return text;
}

std::string_view correction(const TableFinding& finding) {
  return finding.correction.empty() ? info(finding.rule).advice : finding.correction;
}

Span Findings::visible_span(Node node) const {
  if (node == kNoNode) return {};
  Span span = document_->span(node);
  const JsonKind kind = document_->kind(node);
  if (kind == JsonKind::kObject || kind == JsonKind::kArray) span.end = span.begin + 1;
  return span;
}

TableFinding& Findings::add_span(Rule rule, Span span) {
  TableFinding finding;
  finding.rule = rule;
  finding.severity = info(rule).severity;
  finding.span = span;
  return findings_.emplace_back(std::move(finding));
}

TableFinding& Findings::add(Rule rule, Node node) {
  TableFinding& finding = add_span(rule, visible_span(node));
  if (node != kNoNode) finding.path = document_->path(node);
  return finding;
}

TableFinding& Findings::add_value(Rule rule, Node node, std::string expected) {
  TableFinding& finding = add(rule, node);
  const bool nested = node != kNoNode && document_->size(node) != 0;
  if (node != kNoNode) {
    finding.found =
        nested ? std::string(describe(document_->kind(node))) : shown(document_->raw(node));
    if (document_->parent(node) != kNoNode) finding.variable = std::string(document_->key(node));
  }
  finding.expected = std::move(expected);
  return finding;
}

TableFinding& Findings::add_key(Rule rule, Node member) {
  TableFinding& finding = add_span(rule, document_->key_span(member));
  finding.path = document_->path(member);
  return finding;
}

Related Findings::place(Node node) const {
  return {visible_span(node), document_->path(node)};
}

std::vector<TableFinding> Findings::take() && {
  std::ranges::sort(findings_, {}, [](const TableFinding& finding) {
    return std::pair(finding.span.begin, finding.rule);
  });
  return std::move(findings_);
}

}  // namespace commrig::topo
