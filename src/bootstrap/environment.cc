// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/environment.h"

#include <cstdlib>

namespace commrig::bootstrap {

std::optional<std::string> process_environment(std::string_view name) {
  const std::string whole(name);
  const char* const value = std::getenv(whole.c_str());  // NOLINT(concurrency-mt-unsafe): see above
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace commrig::bootstrap
