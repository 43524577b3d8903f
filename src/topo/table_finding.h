// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/json_document.h"
#include "topo/rule.h"

namespace commrig::topo {

// Another place that a finding is about, such as the first of two equal values.
struct Related {
  Span span;
  std::string path;
};

// One thing that is wrong in a table. Texts that don't apply are empty.
struct TableFinding {
  Rule rule = Rule::kMalformed;
  Severity severity = Severity::kError;
  Span span{};          // in the text of the table
  std::string path{};   // "server_list[0].device[3].rank_id"
  std::string found{};  // as it stands in the text
  std::string expected{};
  std::string variable{};       // HCCL's word for the value, such as a key
  std::string detail{};         // what else helps to understand it
  std::string correction{};     // what to do here; empty: the rule's advice
  std::string_view reaction{};  // what HCCL does here, where the rule's row differs; static text
  bool accepted = false;        // HCCL takes it here, whatever the rule's row says
  std::vector<Related> related{};
  std::optional<Edit> edit{};  // mends it without guessing
};

// HCCL's code and words for it: "EI0014: the value \"3\" of server_count is wrong", "log only:
// ...", or "none: accepted".
std::string hccl_reaction(const TableFinding& finding);
// One sentence: "title; found x, expected y; detail".
std::string sentence(const TableFinding& finding);
std::string_view correction(const TableFinding& finding);

// Collects the findings of one document, which must outlive it. Not thread-safe.
class Findings {
 public:
  explicit Findings(const JsonDocument& document) : document_(&document) {}

  // At a value; at the bracket that opens it, where it is a list or an object. kNoNode: at the
  // start. The reference is good until the next call.
  TableFinding& add(Rule rule, Node node);
  // The same, with what stands there as `found`.
  TableFinding& add_value(Rule rule, Node node, std::string expected);
  // At a member's key.
  TableFinding& add_key(Rule rule, Node member);
  TableFinding& add_span(Rule rule, Span span);
  Related place(Node node) const;

  // In the order of their places.
  std::vector<TableFinding> take() &&;

 private:
  Span visible_span(Node node) const;

  const JsonDocument* document_;
  std::vector<TableFinding> findings_;
};

}  // namespace commrig::topo
