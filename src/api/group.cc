// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/group.h"

#include <utility>

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {

Group::Group() : state_(std::make_unique<State>()) {}
Group::Group(Group&& other) noexcept = default;
Group& Group::operator=(Group&& other) noexcept = default;
Group::~Group() = default;

Status Group::submit() {
  if (!state_) return moved_from("Group");
  return guarded([&]() -> Status {
    const std::vector<State::Entry> entries = std::exchange(state_->entries, {});
    for (const State::Entry& entry : entries) {
      const auto put = [&](const auto& what) {
        return entry.communicator->communicator->enqueue(*entry.stream->stream, what);
      };
      COMMRIG_API_TRY(std::visit(put, entry.what));
    }
    return v0::ok();
  });
}

}  // namespace commrig::v0
