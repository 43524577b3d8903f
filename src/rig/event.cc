// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/event.h"

#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "device/event.h"
#include "rig/handles.h"
#include "rig/runtime.h"
#include "rig/stream.h"

namespace commrig::rig {
namespace {

struct Event {
  int device = 0;
  EventOptions options{};
  std::atomic<bool> recorded{false};
  device::Event event{};
};

using EventPtr = std::shared_ptr<Event>;  // shared by the table and the calls that use it

Handles<Event>& events() {
  static auto* const kEvents = new Handles<Event>(5);  // tidy: allow(new) until the process ends
  return *kEvents;
}

Result<EventPtr> find(void* handle) {
  if (EventPtr found = events().find(handle)) return found;
  return Error::make(
      Code::kNoSuchHandle,
      fmt::format("{} is no event{}", handle, events().was_given(handle) ? " any more" : ""));
}

}  // namespace

Result<void*> create_event(int device, const EventOptions& options) {
  COMMRIG_TRY(runtime());
  auto made = std::make_shared<Event>();
  made->device = device;
  made->options = options;
  return events().add(std::move(made));
}

Status destroy_event(void* event) {
  COMMRIG_TRY(find(event));
  events().remove(event);
  return ok();
}

Status record_event(void* event, void* stream, int device) {
  COMMRIG_ASSIGN(const EventPtr found, find(event));
  COMMRIG_ASSIGN(const StreamInfo info, stream_info(stream, device));
  if (info.device != found->device) {
    return Error::make(Code::kBadArgument,
                       fmt::format("an event of device {} is recorded on a stream of device {}",
                                   found->device, info.device));
  }
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> on, stream_for_work(stream, device));
  COMMRIG_TRY(found->event.record(*on));
  found->recorded.store(true);
  return ok();
}

Status make_stream_wait(void* stream, int device, void* event) {
  COMMRIG_ASSIGN(const EventPtr found, find(event));
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> on, stream_for_work(stream, device));
  return found->event.make_wait(*on);
}

Result<bool> query_event(void* event) {
  COMMRIG_ASSIGN(const EventPtr found, find(event));
  if (!found->recorded.load()) return true;
  return found->event.query();
}

Status synchronize_event(void* event) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(const EventPtr found, find(event));
  if (!found->recorded.load()) return ok();
  COMMRIG_ASSIGN(Runtime* const owner, runtime());
  return found->event.synchronize(owner->machine());
}

Result<std::int64_t> elapsed_ns(void* start, void* end) {
  COMMRIG_ASSIGN(const EventPtr first, find(start));
  COMMRIG_ASSIGN(const EventPtr last, find(end));
  for (const EventPtr& each : {first, last}) {
    if (each->options.timed && each->recorded.load()) continue;
    return Error::make(Code::kBadArgument,
                       "elapsed time needs two events that are timed and were recorded");
  }
  COMMRIG_ASSIGN(const Nanos elapsed, device::Event::elapsed(first->event, last->event));
  return elapsed.count();
}

}  // namespace commrig::rig
