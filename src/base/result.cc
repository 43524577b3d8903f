// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/result.h"

#include <fmt/format.h>

namespace commrig {

std::string to_string(const Error& error) {
  const CodeInfo& info = code_info(error.code);
  return fmt::format("{}: {}. {}", info.id, error.message, info.advice);
}

}  // namespace commrig
