// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include "base/result.h"

namespace commrig::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFinding = 1;  // something was found, or a result is wrong
inline constexpr int kExitUsage = 2;    // the command line is wrong

// Prints the error to standard error and returns the exit code for it: a bad argument is a mistake
// on the command line, everything else a finding.
int report_error(const Error& error);

// Ends standard output. Returns `exit_code`, or kExitFinding when what was printed did not arrive.
int close_output(int exit_code);

}  // namespace commrig::cli
