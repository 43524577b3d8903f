// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <vector>

namespace commrig::bootstrap {

// "rank 3", "ranks 0-2, 5, 7-9"; of many stretches the first, and how many ranks more there are.
// `ranks` must be sorted.
std::string rank_list(const std::vector<int>& ranks);

}  // namespace commrig::bootstrap
