// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/communicator.h"

namespace commrig::integration {

struct ProgramOptions {
  std::uint64_t seed = 1;
  int operations = 100;
  std::size_t bytes_max = std::size_t{1} << 20U;  // of one rank's larger buffer
};

// COMMRIG_OPERATIONS of the environment; else `usual`, or a quarter of it under sanitizers, which
// take ten times as long.
int operations_from_environment(int usual);

// A random program of collectives and messages, the same for all ranks that give the same options:
// every collective, element type, op, root and form, in place and not, on several streams, over the
// whole communicator and ones that are split from it, in device and host memory. This runs the part
// of one rank; what comes out is compared with a naive reference. The first difference, or error of
// a call, is the result.
//
// Values are whole numbers so small that every order of folding gives the same bits.
Status run_random_program(const ProgramOptions& options, comm::Communicator& world,
                          device::Machine& machine);

}  // namespace commrig::integration
