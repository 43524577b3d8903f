// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

namespace commrig::cli::run {

// From now on, processes whose parents end become children of this process.
void adopt_orphans();

// Kills and reaps all children of this process but `spared`, and those that become its children
// then. This process has one thread.
void end_leftovers(pid_t spared);

}  // namespace commrig::cli::run
