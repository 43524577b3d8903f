// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/stream.h"

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {
namespace {

using Retired = std::vector<std::unique_ptr<device::Stream>>;

// Takes out those whose work has ended. They are destroyed by the caller, without the lock.
Retired take_idle(Retired& retired) {
  Retired idle;
  for (auto& stream : retired) {
    if (stream->idle()) idle.push_back(std::move(stream));
  }
  std::erase(retired, nullptr);
  return idle;
}

}  // namespace

Stream::Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::create(Runtime& runtime, int device) {
  const auto& owner = Internals::state(runtime);
  if (!owner) return moved_from("Runtime");
  return guarded([&]() -> Result<Stream> {
    const Retired idle = take_idle(*owner->retired.lock());
    COMMRIG_API_ASSIGN(std::unique_ptr<device::Stream> made, owner->machine.create_stream(device));
    return Stream(std::make_shared<State>(owner, std::move(made)));
  });
}

int Stream::device() const {
  return state_ ? state_->stream->device() : -1;
}

Status Stream::synchronize() {
  if (!state_) return moved_from("Stream");
  return guarded([&] { return translate(state_->runtime->machine.synchronize(*state_->stream)); });
}

Result<bool> Stream::query() const {
  if (!state_) return moved_from("Stream");
  return guarded([&]() -> Result<bool> {
    COMMRIG_API_TRY(state_->stream->status());
    return state_->stream->idle();
  });
}

}  // namespace commrig::v0
