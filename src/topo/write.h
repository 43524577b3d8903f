// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "topo/cluster.h"

namespace commrig::topo {

// `text` with the quotes and escapes of JSON.
std::string quoted(std::string_view text);

// The cluster as a completed table, one device or rank a line, in the order of its servers and of
// their ranks. Forms: kV10, kV12, kV20; what a form has no key for is left out, and so is what the
// cluster doesn't say. kBadArgument for other forms.
Result<std::string> write_table(const Cluster& cluster, Form form);

// "1.0", "1.2" or "2.0" as a form; nothing for other texts.
std::optional<Form> parse_version(std::string_view text);

}  // namespace commrig::topo
