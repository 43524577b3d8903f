// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/memory.h"

#include <algorithm>

namespace commrig::coll {
namespace {

std::size_t length(const Contents& contents) {
  std::size_t count = 0;
  for (const Stretch& stretch : contents) count += stretch.count;
  return count;
}

}  // namespace

// One buffer for each kind, and a second scratch.
Memory::BufferState& Memory::buffer(int operation, const Place& place) {
  auto index = static_cast<std::size_t>(place.buffer);
  if (place.buffer == Buffer::kScratch && operation % 2 != 0) index = 4;
  return buffers_[static_cast<std::size_t>(place.rank)][index];
}

std::optional<Access> Memory::read(const Use& use, const Place& place, std::size_t count,
                                   Contents& contents) {
  ++accesses_;
  contents = peek(use.access.operation, place, count);
  return buffer(use.access.operation, place).log.read({place.offset, count}, use.access, use.clock);
}

std::optional<Access> Memory::write(const Use& use, const Place& place, const Contents& contents) {
  ++accesses_;
  BufferState& state = buffer(use.access.operation, place);
  std::size_t offset = place.offset;
  // A value at an offset is kept as the value at the start of the buffer, so that stretches may be
  // cut anywhere.
  for (const Stretch& stretch : contents) {
    Value value = stretch.value;
    value.at -= static_cast<std::int64_t>(offset);
    state.values.assign({offset, stretch.count}, value);
    offset += stretch.count;
  }
  return state.log.write({place.offset, length(contents)}, use.access, use.clock);
}

Contents Memory::peek(int operation, const Place& place, std::size_t count) {
  Contents contents;
  buffer(operation, place)
      .values.visit({place.offset, count}, [&](std::size_t begin, std::size_t end, Value& found) {
        Value value = found;
        value.at += static_cast<std::int64_t>(begin);
        const bool goes_on =
            !contents.empty() && contents.back().value.expression == value.expression &&
            contents.back().value.at + static_cast<std::int64_t>(contents.back().count) == value.at;
        if (goes_on) {
          contents.back().count += end - begin;
        } else {
          contents.push_back({end - begin, value});
        }
      });
  return contents;
}

void Memory::land(const Use& use, const Place& place, std::size_t count) {
  buffer(use.access.operation, place).log.land({place.offset, count}, use.access);
}

}  // namespace commrig::coll
