// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace commrig::comm {

class Team;

// What the rank waits for, by its own word: "rank 0 waits to receive message 1 from rank 1". Of a
// rank that has a board here; empty where it waits for nothing. Thread-safe.
std::string describe_wait(Team& team, int rank);

// Whether `rank` and others wait for one another, so that none of them can ever go on: kWaitCircle,
// which says who waits for what. Each rank posts what it waits for, then looks; so the last one to
// come into a circle finds it. What is found is certain: each word is read twice, and between the
// two no rank of the circle has come further. Ranks that share no memory with this process are not
// followed. Thread-safe.
std::optional<Error> find_circle(Team& team, int rank);

}  // namespace commrig::comm
