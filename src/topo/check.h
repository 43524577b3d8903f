// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "topo/cluster.h"
#include "topo/json_document.h"
#include "topo/reading.h"
#include "topo/table_finding.h"

namespace commrig::topo {

// What check_table() gives. The nodes of `cluster` are those of `document`.
struct CheckedTable {
  JsonDocument document;
  Cluster cluster;
  std::vector<TableFinding> findings;  // in the order of their places

  // Some rank table, readable or not; a relative of one, or anything else, is none.
  bool is_table() const { return is_rank_table(cluster.form); }
  std::size_t count(Severity severity) const;
};

// Reads the text of a table and applies every rule, in one pass however much is wrong. Never fails;
// takes time and memory in proportion to the text. Thread-safe.
CheckedTable check_table(std::string text, const CheckOptions& options = {});

// A rank table without errors in it (warnings do not matter), or the first error as kBadArgument,
// which names `name`, line and column.
struct NamedText {
  std::string name;
  std::string text;
};
Result<CheckedTable> require_table(NamedText file, const CheckOptions& options = {});

}  // namespace commrig::topo
