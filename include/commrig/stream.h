// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "commrig/runtime.h"

namespace commrig::v0 {

// Work in order, one after the other. Whatever takes a stream puts work on it and returns at
// once. The first error sticks: work behind it isn't done, and synchronize() returns that error
// from then on; make a new stream. Thread-safe.
class COMMRIG_API Stream {
 public:
  // A stream of the device; any number of them. CR-MEM09 for a device that does not exist,
  // CR-RUN05 if the system gives no thread.
  static Result<Stream> create(Runtime& runtime, int device = 0);

  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  // Doesn't wait: what is on the stream is still done, and its memory must live so long.
  ~Stream();

  // -1 after the stream was moved from.
  int device() const;

  // Waits until everything that was put on the stream so far has ended; meanwhile this thread
  // advances all streams of the runtime, so that one thread may drive many ranks. The error that
  // sticks to the stream, if there is one.
  Status synchronize();

  // Whether everything on the stream has ended, without waiting; or the error that sticks to it.
  Result<bool> query() const;

 private:
  friend struct Internals;
  struct COMMRIG_LOCAL State;
  COMMRIG_LOCAL explicit Stream(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // shared with groups that hold calls for it
};

}  // namespace commrig::v0
