// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <memory>

#include "commrig/error.h"

namespace commrig::v0 {

struct RuntimeOptions {
  int devices = 1;  // simulated ones, at least 1; they share the cores of this machine
  std::size_t bytes_per_device = std::size_t{64} << 30U;  // takes pages only when they are touched
};

// The simulated devices of this process, and the threads that do their work. A process makes one,
// and everything else is made from it. Streams, buffers and communicators keep the runtime alive,
// so it may be destroyed before them; by then no call on it may be in progress. Thread-safe.
class COMMRIG_API Runtime {
 public:
  // CR-RUN04 for options that make no sense; CR-RUN05 if the system gives no memory or thread.
  static Result<Runtime> create(const RuntimeOptions& options = RuntimeOptions());

  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  ~Runtime();

  // Devices are numbered from 0 to devices() - 1. 0 after the runtime was moved from.
  int devices() const;

  // Waits until everything that was put on the streams of the device has ended. The first error
  // found among them, or CR-MEM09 for a device that does not exist.
  Status synchronize_device(int device);

 private:
  friend struct Internals;
  struct COMMRIG_LOCAL State;
  COMMRIG_LOCAL explicit Runtime(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // shared with all that was made from it
};

}  // namespace commrig::v0
