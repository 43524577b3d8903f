// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "base/events.h"
#include "base/executor.h"
#include "device/accessor.h"

namespace commrig::device {

class Doorbell;
class Machine;
class Stream;
class KernelContext;

// Told about the blocks of a launch, on their threads. Must neither block nor wait.
class KernelObserver : public WaitObserver {
 public:
  virtual void on_block_start(const KernelContext& context) = 0;
  // `status`: what the kernel function returned, or kKernelThrew.
  virtual void on_block_end(const KernelContext& context, const Status& status) = 0;
};

struct LaunchConfig {
  std::string name = "kernel";
  int rank = -1;   // the logical rank that the kernel runs for; -1: the device's number
  int blocks = 1;  // each runs on a thread of its own, all at once
  const AbortFlag* abort = nullptr;    // ends the kernel's waits
  KernelObserver* observer = nullptr;  // both must outlive the kernel
};

// What a kernel is given: who it is, the accessors (see Accessor), and the way to windows. One per
// block; used by the block's thread only.
class KernelContext final : public Accessor {
 public:
  struct Place {
    int rank;
    int device;
    int stream;
    int block;
    int blocks;
  };
  KernelContext(Machine& machine, const Place& place, KernelObserver* observer,
                const AbortFlag& abort);

  int device() const { return place_.device; }
  int stream() const { return place_.stream; }
  int block() const { return place_.block; }
  int blocks() const { return place_.blocks; }
  const AbortFlag& abort() const { return abort_; }

  // The window of `bytes` at a device address; MEM errors.
  Result<Window> window(const void* address, std::size_t bytes, std::size_t alignment = 1) const;
  Result<Window> window(std::uint64_t address, std::size_t bytes, std::size_t alignment = 1) const;

  // The window of `bytes` at an address of another device, by its key; as RemoteKeys::resolve.
  Result<Window> remote_window(std::uint32_t key, std::uint64_t address, std::size_t bytes,
                               std::size_t alignment = 1) const;

  // The doorbell whose word has this device address; null for none.
  const Doorbell* doorbell(std::uint64_t address) const;

  // Tells the observers of the machine; `name` is static text.
  void event(const char* name, Phase phase, std::int64_t a = 0, std::int64_t b = 0);

 private:
  Machine& machine_;
  Place place_;
  const AbortFlag& abort_;
};

using KernelFunction = std::function<Status(KernelContext&)>;

// Enqueues `kernel(context, arguments...)` on the stream with copies of the arguments, for each of
// config.blocks blocks. The kernel is a plain function returning Status; all blocks share the
// copies, as constants. Pointers among its arguments must live until it has ended. Its error, or
// kKernelThrew, sticks to the stream, and ends the waits of its other blocks.
template <class Kernel, class... Args>
  requires std::invocable<const Kernel&, KernelContext&, const Args&...>
Status launch(Stream& stream, const LaunchConfig& config, Kernel kernel, Args... arguments);

Status launch_function(Stream& stream, const LaunchConfig& config, KernelFunction function);

template <class Kernel, class... Args>
  requires std::invocable<const Kernel&, KernelContext&, const Args&...>
Status launch(Stream& stream, const LaunchConfig& config, Kernel kernel, Args... arguments) {
  auto bound = [kernel = std::move(kernel),
                copies = std::make_tuple(std::move(arguments)...)](KernelContext& context) {
    return std::apply([&](const auto&... each) -> Status { return kernel(context, each...); },
                      copies);
  };
  return launch_function(stream, config, KernelFunction(std::move(bound)));
}

}  // namespace commrig::device
