// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "examples/mc2/tiled_matmul.h"

// What stands behind an option, read strictly: nothing is cut off, wrapped or left over. Errors are
// kBadArgument and name the option, what was found and what is expected.
namespace commrig::cli {

Error bad_option(std::string_view option, std::string_view found, std::string_view expected);

// A decimal number from `least` to `most`, both included.
Result<std::uint64_t> parse_number(std::string_view option, std::string_view text,
                                   std::uint64_t least, std::uint64_t most);

// "MxKxN" of --shape, three numbers of at least 1; the error names the part that is wrong.
Result<operators::MatmulShape> parse_shape(std::string_view text);

}  // namespace commrig::cli
