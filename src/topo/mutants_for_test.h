// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/check.h"

namespace commrig::topo {

inline constexpr Severity kWarning = Severity::kWarning;

// One fault in a good table: `from` stands in it once and becomes `to`, in which "@" is where the
// finding must be (and not part of the text). Without "@" it must be at the start of the table.
struct Mutant {
  std::string_view table;
  std::string from;
  std::string to;
  Rule rule;
  std::string path;
  std::string_view hccl = {};  // start of what HCCL does; empty: the rule's own code
  Chip chip = Chip::kAny;
  Severity severity = Severity::kError;
  std::vector<Rule> also = {};  // what follows from the same fault
};

struct MutatedText {
  std::string text;
  std::size_t marked = 0;
};

inline MutatedText mutated(const Mutant& mutant) {
  const std::size_t at = mutant.table.find(mutant.from);
  EXPECT_NE(at, std::string_view::npos) << mutant.from << " is not in the table";
  EXPECT_EQ(mutant.table.find(mutant.from, at + 1), std::string_view::npos)
      << mutant.from << " is in the table twice";
  std::string to = mutant.to;
  const std::size_t mark = to.find('@');
  if (mark != std::string::npos) to.erase(mark, 1);
  MutatedText out{std::string(mutant.table), mark == std::string::npos ? 0 : at + mark};
  out.text.replace(at, mutant.from.size(), to);
  return out;
}

// Everything that is no note: id and place.
inline std::string listed(const CheckedTable& table) {
  std::string text;
  for (const TableFinding& finding : table.findings) {
    const Position place = table.document.position(finding.span.begin);
    text += std::string(info(finding.rule).id) + " " + finding.path + " " +
            std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
            sentence(finding) + "\n";
  }
  return text;
}

inline void expect_found(const Mutant& mutant, CheckOptions options = {}) {
  SCOPED_TRACE(mutant.from + " -> " + mutant.to);
  options.chip = mutant.chip;
  const MutatedText text = mutated(mutant);
  const CheckedTable table = check_table(text.text, options);
  std::vector<Rule> rules;
  const TableFinding* found = nullptr;
  for (const TableFinding& finding : table.findings) {
    const bool meant = finding.rule == mutant.rule && finding.path == mutant.path;
    if (meant && found == nullptr) {
      found = &finding;
    } else if (finding.severity != Severity::kNote) {
      rules.push_back(finding.rule);
    }
  }
  ASSERT_NE(found, nullptr) << info(mutant.rule).id << " at " << mutant.path
                            << " is not found, but\n"
                            << listed(table);
  const Position expected = table.document.position(text.marked);
  const Position place = table.document.position(found->span.begin);
  EXPECT_EQ(place.line, expected.line);
  EXPECT_EQ(place.column, expected.column);
  EXPECT_EQ(found->severity, mutant.severity);
  const std::string_view code = mutant.hccl.empty() ? info(mutant.rule).code : mutant.hccl;
  EXPECT_THAT(hccl_reaction(*found), testing::StartsWith(std::string(code)));
  EXPECT_FALSE(correction(*found).empty());
  EXPECT_THAT(rules, testing::UnorderedElementsAreArray(mutant.also)) << listed(table);
}

}  // namespace commrig::topo
