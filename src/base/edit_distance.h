// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string_view>

namespace commrig {

// How many characters must be put in, taken out or replaced to make `a` of `b`: V. I. Levenshtein,
// "Binary codes capable of correcting deletions, insertions, and reversals", 1966. To find the word
// that somebody may have meant. Thread-safe.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace commrig
