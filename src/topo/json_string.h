// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/json_document.h"

namespace commrig::topo {

// A string of a JSON text, quotes included.
struct ScannedString {
  std::size_t end = 0;                   // behind the closing quote, or where it should have been
  std::optional<std::string> decoded{};  // where it differs from the bytes between two quotes
  std::vector<SyntaxFault> faults{};
};

// The string that starts with a quote at `begin`. A string ends at `closing` or, as a fault, at the
// end of its line.
ScannedString scan_string(std::string_view text, std::size_t begin, std::string_view opening,
                          std::string_view closing);

// How many bytes the character of UTF-8 at `at` has, 0 where the bytes are none.
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace commrig::topo
