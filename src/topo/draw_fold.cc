// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/draw_fold.h"

#include <algorithm>

#include <fmt/format.h>

namespace commrig::topo {

std::vector<Folded> fold(const std::vector<int>& items, std::size_t most) {
  std::vector<Folded> shown;
  const bool folds = items.size() > most;
  const std::size_t first = folds ? most - 2 : items.size();
  for (std::size_t i = 0; i < first; ++i) shown.push_back({.index = items[i]});
  if (!folds) return shown;
  shown.push_back({.hidden = std::vector<int>(items.begin() + static_cast<std::ptrdiff_t>(first),
                                              items.end() - 1)});
  shown.push_back({.index = items.back()});
  return shown;
}

std::string ranks_text(const Cluster& cluster, const std::vector<int>& servers) {
  int least = -1;
  int most = -1;
  int count = 0;
  for (const int index : servers) {
    for (const std::uint32_t i : cluster.servers[static_cast<std::size_t>(index)].ranks) {
      const int id = cluster.ranks[i].id;
      least = least < 0 ? id : std::min(least, id);
      most = std::max(most, id);
      ++count;
    }
  }
  if (count == 0) return "no ranks";
  if (count == 1) return fmt::format("rank {}", least);
  if (most - least + 1 == count) return fmt::format("ranks {} to {}", least, most);
  return fmt::format("{} ranks from {} to {}", count, least, most);
}

}  // namespace commrig::topo
