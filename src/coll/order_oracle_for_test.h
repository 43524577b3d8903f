// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <span>
#include <string>

#include "coll/verifier.h"

namespace commrig::coll {

// The definition of a race, applied by force: every step of every rank is a node of a graph, the
// edges are the order of a rank's steps and what signals, messages and ends of operations order;
// every two uses of one element, one of which writes, need a path between them. Also asks that the
// address of a peer's buffer was waited for, and that all places lie in their buffers. "" or what
// is wrong. Shares no code with the verifier; for small sequences.
std::string find_disorder(std::span<const PlanSet* const> sequence);

}  // namespace commrig::coll
