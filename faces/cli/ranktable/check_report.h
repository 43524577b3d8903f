// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

#include "topo/check.h"

// What `commrig ranktable check` has found, for people and for programs.
namespace commrig::cli {

struct CheckedFile {
  std::string name;
  topo::CheckedTable table;  // the findings about the file itself stand first
};

struct TextOptions {
  bool brief = false;  // one line a finding and nothing else
  bool all = false;    // else the same rule at most kSameRuleMax times
};
inline constexpr std::size_t kSameRuleMax = 20;

// "2 servers, 16 ranks", with super pods where there are some.
std::string size_text(const topo::Cluster& cluster);
// One line a finding in columns, with an excerpt and what to change; then a line of counts.
std::string report_text(const CheckedFile& file, const TextOptions& options);
// {"files": [{"file", "form", "verdict", "findings": [...]}]}
std::string report_json(const std::vector<CheckedFile>& files);
// SARIF 2.1.0.
std::string report_sarif(const std::vector<CheckedFile>& files, const std::string& version);

// "good", "bad", or "no table".
std::string_view verdict(const topo::CheckedTable& table);

}  // namespace commrig::cli
