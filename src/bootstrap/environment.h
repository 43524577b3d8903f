// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace commrig::bootstrap {

// The value of a variable of the environment, or nothing where it is not set. Faces hand in that of
// their process, tests a table.
using Environment = FunctionRef<std::optional<std::string>(std::string_view name)>;

// The environment of this process. Not while somebody changes it.
std::optional<std::string> process_environment(std::string_view name);

}  // namespace commrig::bootstrap
