// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "api/objects.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/translate.h"

namespace commrig::v0 {

Stream::State::~State() {
  if (stream->idle()) return;
  runtime->retired.lock()->push_back(std::move(stream));
}

Status Internals::check(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on) {
  if (!state) return moved_from("Communicator");
  if (!on.stream_->state_) return moved_from("Stream");
  if (on.group_ != nullptr && !on.group_->state_) return moved_from("Group");
  if (on.stream_->state_->runtime == state->runtime) return v0::ok();
  return translate(commrig::Error::make(
      Code::kObjectUse, "the stream and the communicator belong to different runtimes"));
}

Status Internals::submit(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on,
                         comm::Call call) {
  if (Status usable = check(state, on); !usable) return usable;
  return guarded([&]() -> Status {
    const auto& stream = on.stream_->state_;
    if (on.group_ == nullptr) {
      return translate(state->communicator->enqueue(*stream->stream, std::move(call)));
    }
    on.group_->state_->entries.push_back({state, stream, std::move(call)});
    return v0::ok();
  });
}

Status Internals::submit(const std::shared_ptr<CommunicatorState>& state, const StreamRef& on,
                         comm::Message message) {
  if (Status usable = check(state, on); !usable) return usable;
  return guarded([&]() -> Status {
    const auto& stream = on.stream_->state_;
    if (on.group_ == nullptr) {
      return translate(
          state->communicator->enqueue(*stream->stream, std::vector<comm::Message>{message}));
    }
    std::vector<Group::State::Entry>& entries = on.group_->state_->entries;
    const auto place = std::ranges::find_if(entries, [&](const Group::State::Entry& entry) {
      return entry.communicator == state && entry.what.index() == 1;
    });
    if (place == entries.end()) {
      entries.push_back({state, stream, std::vector<comm::Message>{message}});
      return v0::ok();
    }
    if (place->stream != stream) {
      return translate(commrig::Error::make(
          Code::kObjectUse,
          fmt::format("rank {}: messages of one communicator in a group are on different streams",
                      state->communicator->rank())));
    }
    std::get<std::vector<comm::Message>>(place->what).push_back(message);
    return v0::ok();
  });
}

}  // namespace commrig::v0
