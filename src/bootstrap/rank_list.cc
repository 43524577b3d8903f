// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/rank_list.h"

#include <cstddef>

#include <fmt/format.h>

namespace commrig::bootstrap {

std::string rank_list(const std::vector<int>& ranks) {
  constexpr int kStretchesMax = 32;
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  int stretches = 0;
  for (std::size_t first = 0; first < ranks.size();) {
    if (stretches == kStretchesMax) {
      return text + fmt::format(" and {} more", ranks.size() - first);
    }
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (stretches++ != 0) text += ", ";
    text += fmt::to_string(ranks[first]);
    if (last != first) text += fmt::format("-{}", ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace commrig::bootstrap
