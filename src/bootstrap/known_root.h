// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string_view>

#include "base/result.h"
#include "bootstrap/unique_id.h"

namespace commrig::bootstrap {

// The id of ranks that were told by their user where rank 0 listens: "IPV4:PORT", "[IPV6]:PORT",
// "[IPV6%INTERFACE]:PORT" or "HOST:PORT". Everybody who is told the same makes the same one. The
// root is rank 0's to open, when it joins. kBadAddress; blocks while the system looks a name up.
Result<UniqueId> known_root(std::string_view text);

// Whether an id is of that kind.
bool is_known_root(const UniqueId& id);

}  // namespace commrig::bootstrap
