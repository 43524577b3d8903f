// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

#include "base/result.h"
#include "rig/export.h"

namespace commrig::rig {

// Events by handle: points on streams that can be waited for and timed. All functions are
// thread-safe; an unknown handle is kNoSuchHandle.

struct EventOptions {
  bool timed = true;
};

COMMRIG_RIG Result<void*> create_event(int device, const EventOptions& options = {});
COMMRIG_RIG Status destroy_event(void* event);

// Marks what is on the stream now. kBadArgument for a stream of another device than the event's.
COMMRIG_RIG Status record_event(void* event, void* stream, int device);

// The stream goes on when the latest record of this moment has been reached.
COMMRIG_RIG Status make_stream_wait(void* stream, int device, void* event);

// Whether its latest record has been reached; true if there is none.
COMMRIG_RIG Result<bool> query_event(void* event);

// Waits until then. kInCallback.
COMMRIG_RIG Status synchronize_event(void* event);

// Between two reached records, in nanoseconds. kEventState where one is not reached yet,
// kBadArgument where one has none or isn't timed.
COMMRIG_RIG Result<std::int64_t> elapsed_ns(void* start, void* end);

}  // namespace commrig::rig
