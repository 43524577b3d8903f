// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/result.h"

namespace commrig {

// A descriptor that becomes readable when the process ends (pidfd_open(2)). Fails with kSystemCall
// when there is no such process.
Result<Descriptor> watch_process(pid_t process);

// Raises the soft limit of open files to the hard one; gives the limit that holds then.
Result<unsigned long> raise_descriptor_limit();

}  // namespace commrig
