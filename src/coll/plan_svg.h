// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <string_view>

#include "coll/verifier.h"

namespace commrig::coll {

// A picture of the plans as SVG 1.1: a column for each rank, time runs down, arrows are messages
// (solid) and signals that are waited for (dashed). The whole text of a step shows on pointing at
// it.
std::string draw_svg(const PlanSet& set, std::string_view title);

}  // namespace commrig::coll
