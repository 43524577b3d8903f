// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>

#include "coll/verifier.h"

namespace commrig::coll {

// What can be seen without running the plans: that each step is well formed, stays inside the
// buffers that its rank may use, and that the messages of each two ranks match.
std::optional<Defect> find_malformed_step(const PlanSet& set, int operation);

}  // namespace commrig::coll
