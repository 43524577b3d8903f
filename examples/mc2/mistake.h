// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "base/finding.h"
#include "base/result.h"

namespace commrig::operators {

// Four ranks sum a vector, of which rank 2 gives one element less than the others: what the group's
// server finds. Fails with kWrongResult when it finds nothing.
Result<Finding> run_with_mistake();

}  // namespace commrig::operators
