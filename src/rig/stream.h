// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/guarded.h"
#include "device/event.h"
#include "device/stream.h"
#include "rig/export.h"

namespace commrig::rig {

// Streams as host interfaces know them: by handle, with a default stream for each device that
// other streams of the device wait for, and that waits for them. All functions are thread-safe.

// Handles of streams that every device has; they mean the device that is given with them.
inline void* const kDefaultStream = nullptr;
inline void* const kLegacyStream = reinterpret_cast<void*>(1);     // the same stream
inline void* const kPerThreadStream = reinterpret_cast<void*>(2);  // one for each thread

struct StreamOptions {
  bool waits_for_default = true;  // and the default stream for it
  int priority = 0;               // only kept
};

struct Stream {
  Stream(std::unique_ptr<device::Stream> made, int on, const StreamOptions& chosen)
      : device(on), options(chosen), current(std::move(made)) {}

  const int device;
  const StreamOptions options;

  // The stream of the machine. When it has failed, another one takes its place.
  std::shared_ptr<device::Stream> get() const { return *current.lock(); }

  // How much was put on it, and how much of that the default stream waits for; and how much of
  // the default stream's work this one waits for.
  std::atomic<std::uint64_t> issued{0};
  std::atomic<std::uint64_t> seen_by_default{0};
  std::atomic<std::uint64_t> seen_of_default{0};

  // Shared with those who put work on it at the moment.
  Guarded<std::shared_ptr<device::Stream>> current;
};

// A stream of the device, found by the handle until destroy_stream(). kBadDevice, kSystemCall.
COMMRIG_RIG Result<void*> create_stream(int device, const StreamOptions& options = {});

// What is on it is still done. kNoSuchHandle, also for the streams that every device has.
COMMRIG_RIG Status destroy_stream(void* handle);

// Waits for what was put on it so far. An error of that is told once, by the first of these
// functions that meets it, and one that follows from an abort never; what was behind it isn't done,
// and the stream is as new. kNoSuchHandle, kInCallback.
COMMRIG_RIG Status synchronize_stream(void* handle, int device);

// Whether everything on it has ended; never waits.
COMMRIG_RIG Result<bool> query_stream(void* handle, int device);

// Waits for all streams of the device.
COMMRIG_RIG Status synchronize_device(int device);

struct StreamInfo {
  int device = 0;
  StreamOptions options{};
  int number = 0;  // of the machine's stream
};
COMMRIG_RIG Result<StreamInfo> stream_info(void* handle, int device);

// Runs the function on a thread of its own when the stream comes to it.
COMMRIG_RIG Status call_on_stream(void* handle, int device, std::function<Status()> function);

// For this folder. find_stream() finds it, stream_for_work() also lets it wait for what the order
// with the default stream demands; the caller puts work on it next.
Result<std::shared_ptr<Stream>> find_stream(void* handle, int device);
Result<std::shared_ptr<device::Stream>> stream_for_work(void* handle, int device);
// `after` goes on when `before` has done what is on it now. A stream that failed orders nothing.
Status put_after(device::Stream& after, device::Stream& before);

}  // namespace commrig::rig
