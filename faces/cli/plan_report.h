// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>

#include "base/result.h"
#include "coll/verifier.h"

// What `commrig plan` prints.
namespace commrig::cli {

// A line for each algorithm and collective.
std::string algorithm_table();

// "all-reduce by ring, 6 ranks, count 12"
std::string plan_title(const coll::PlanSet& set);

// The steps of one rank, or of all if it is -1.
std::string step_table(const coll::PlanSet& set, int rank);

// "proved: ..." and what that rests on; or the defect as an error.
Result<std::string> prove(const coll::PlanSet& set);

// Every row of the table on so many ranks: each collective, root, in place and not. A line for each
// collective, or the first defect as an error.
Result<std::string> prove_all(int ranks);

}  // namespace commrig::cli
