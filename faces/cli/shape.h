// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string_view>

#include "base/result.h"
#include "examples/mc2/all_gather_matmul.h"

namespace commrig::cli {

// "MxKxN", three numbers of at least 1. Fails with kBadArgument, which names the part that is
// wrong.
Result<operators::MatmulShape> parse_shape(std::string_view text);

}  // namespace commrig::cli
