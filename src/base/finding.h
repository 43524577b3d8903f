// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace commrig {

// A diagnosis in parts, so that a test or a tool need not read the sentence. Parts that do not
// apply are -1 or empty.
struct Finding {
  Code code = Code::kBadArgument;
  int rank = -1;             // the guilty rank
  int slot = -1;             // message slot
  std::string field{};       // the field's name in the wire layout
  std::int64_t offset = -1;  // of the field, in bytes from the start of the workspace
  std::string expected{};
  std::string found{};
  std::string detail{};  // who else is concerned, or why it matters
};

// The finding as one sentence: "rank 1, slot 0, commType (at 0x0): expected ..., found ...; ..."
std::string sentence(const Finding& finding);

// The same as an Error.
Error to_error(const Finding& finding,
               std::source_location where = std::source_location::current());

}  // namespace commrig
