// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/access_log.h"

#include <algorithm>

namespace commrig::coll {
namespace {

bool is_before(const Access& access, const VectorClock& clock) {
  return access.rank < 0 || (!access.in_flight && clock[access.rank] >= access.time);
}

}  // namespace

std::optional<Access> AccessLog::read(Range range, const Access& access, const VectorClock& clock) {
  std::optional<Access> conflict;
  uses_.visit(range, [&](std::size_t, std::size_t, Uses& uses) {
    if (!is_before(uses.write, clock)) conflict = uses.write;
    const auto mine = std::ranges::find(uses.reads, access.rank, &Access::rank);
    if (mine == uses.reads.end()) {
      uses.reads.push_back(access);
    } else if (!mine->in_flight) {  // Otherwise the message is read still later.
      *mine = access;
    }
  });
  return conflict;
}

std::optional<Access> AccessLog::write(Range range, const Access& access,
                                       const VectorClock& clock) {
  std::optional<Access> conflict;
  uses_.visit(range, [&](std::size_t, std::size_t, const Uses& uses) {
    if (!is_before(uses.write, clock)) conflict = uses.write;
    for (const Access& read : uses.reads) {
      if (!is_before(read, clock)) conflict = read;
    }
  });
  uses_.assign(range, {access, {}});
  return conflict;
}

void AccessLog::land(Range range, const Access& access) {
  uses_.visit(range, [&](std::size_t, std::size_t, Uses& uses) {
    for (Access& read : uses.reads) {
      if (read.rank != access.rank || !read.in_flight) continue;
      read.in_flight = false;
      read.time = access.time;
    }
  });
}

}  // namespace commrig::coll
