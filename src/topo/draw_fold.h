// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topo/cluster.h"

// What a picture shows when there is too much for one.
namespace commrig::topo {

inline constexpr std::size_t kPodsShown = 6;
inline constexpr std::size_t kServersShown = 8;        // of a super pod
inline constexpr std::size_t kLooseServersShown = 24;  // where there are no super pods
inline constexpr std::size_t kDevicesShown = 16;       // of a server

// One item that is shown, or several that are one box.
struct Folded {
  int index = -1;
  std::vector<int> hidden{};
};
// All items, or if they are more than `most` (at least 3), so many boxes: the first ones, those
// between as one, and the last.
std::vector<Folded> fold(const std::vector<int>& items, std::size_t most);

// "ranks 0 to 15", or with gaps "16 ranks from 0 to 40".
std::string ranks_text(const Cluster& cluster, const std::vector<int>& servers);

}  // namespace commrig::topo
