// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/finding.h"

#include <fmt/format.h>

namespace commrig {
namespace {

std::string place(const Finding& finding) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (finding.rank >= 0) add(fmt::format("rank {}", finding.rank));
  if (finding.slot >= 0) add(fmt::format("slot {}", finding.slot));
  if (!finding.field.empty()) add(finding.field);
  if (finding.offset >= 0) text += fmt::format(" (at {:#x})", finding.offset);
  return text;
}

}  // namespace

std::string sentence(const Finding& finding) {
  std::string text = place(finding);
  if (!text.empty()) text += ": ";
  text += code_info(finding.code).title;
  if (!finding.expected.empty()) text += fmt::format("; expected {}", finding.expected);
  if (!finding.found.empty()) text += fmt::format(", found {}", finding.found);
  if (!finding.detail.empty()) text += fmt::format("; {}", finding.detail);
  return text;
}

Error to_error(const Finding& finding, std::source_location where) {
  return Error::make(finding.code, sentence(finding), where);
}

}  // namespace commrig
