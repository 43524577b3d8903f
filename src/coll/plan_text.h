// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>

#include "coll/plan.h"

namespace commrig::coll {

// "rank 2 input[0]"
std::string to_string(const Place& place);

// "reduce 4: rank 0 input[0], rank 1 input[0] -> rank 0 output[0]", "wait for phase 1 of rank 3"
std::string to_string(const RankPlan& plan, const Step& step);

// One line for each step, numbered.
std::string to_string(const RankPlan& plan);

}  // namespace commrig::coll
