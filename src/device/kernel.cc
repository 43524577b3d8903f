// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/kernel.h"

#include <atomic>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "device/machine.h"
#include "device/stream.h"

namespace commrig::device {
namespace {

Error thrown_error(const std::string& name, int rank, const char* text) {
  return Error::make(Code::kKernelThrew, fmt::format("{} of rank {} threw: {}", name, rank, text));
}

// Runs user code; whatever leaves it by an exception becomes an error.
Status run_guarded(const LaunchConfig& config, FunctionRef<Status()> body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return thrown_error(config.name, config.rank, exception.what());
  } catch (...) {
    return thrown_error(config.name, config.rank, "something that is no std::exception");
  }
}

}  // namespace

// A kernel: starts its blocks at the first step and is pending until the last has ended.
class KernelWork final : public Work {
 public:
  KernelWork(Stream& stream, LaunchConfig config, KernelFunction function)
      : stream_(stream),
        launch_(std::make_shared<Launch>(stream, std::move(config), std::move(function))) {}

  Result<Progress> step() override {
    if (!started_) {
      started_ = true;
      start();
      return Progress::kPending;
    }
    if (launch_->blocks_left.load(std::memory_order_acquire) != 0) return Progress::kPending;
    const auto error = launch_->error.lock();
    if (error->has_value()) return **error;
    return Progress::kDone;
  }

 private:
  // Shared between the work and the threads of its blocks, which may still leave when the work has
  // been taken off the stream.
  struct Launch {
    Launch(Stream& stream, LaunchConfig launch_config, KernelFunction kernel)
        : config(std::move(launch_config)),
          function(std::move(kernel)),
          abort(config.abort, &stream.machine().abort_flag()),
          blocks_left(config.blocks) {}
    const LaunchConfig config;
    const KernelFunction function;
    AbortFlag abort;  // ends the waits of the other blocks when one fails
    std::atomic<int> blocks_left;
    Guarded<std::optional<Error>> error;
  };

  void start() {
    Machine& machine = stream_.machine();
    for (int block = 0; block < launch_->config.blocks; ++block) {
      machine.add_runner();
      const KernelContext::Place place{launch_->config.rank, stream_.device(), stream_.number(),
                                       block, launch_->config.blocks};
      const Status spawned =
          machine.executor().spawn(Role::kUserCode, fmt::format("cr-r{}b{}", place.rank, block),
                                   [&machine, place, launch = launch_]() mutable {
                                     if (run_block(machine, place, *launch, ok())) machine.settle();
                                     launch.reset();
                                     Machine::end_runner(machine);
                                   });
      if (spawned.has_value()) continue;
      // A block that fails before it does anything, so that all who watch it learn why.
      run_block(machine, place, *launch_, spawned);
      Machine::end_runner(machine);
    }
  }

  // Runs the block, unless it `can_run` not. True when it was the last: the next work of the stream
  // may then start on this thread, without a hand-over.
  static bool run_block(Machine& machine, const KernelContext::Place& place, Launch& launch,
                        const Status& can_run) {
    const LaunchConfig& config = launch.config;
    {
      KernelContext context(machine, place, config.observer, launch.abort);
      if (config.observer != nullptr) config.observer->on_block_start(context);
      machine.executor().enter_user_code();
      const Status status =
          can_run ? run_guarded(config, [&] { return launch.function(context); }) : can_run;
      machine.executor().leave_user_code();
      if (!status) fail(machine, launch, status.error());
      if (config.observer != nullptr) config.observer->on_block_end(context, status);
    }
    if (launch.blocks_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    machine.poke();
    return true;
  }

  static void fail(Machine& machine, Launch& launch, const Error& error) {
    {
      const auto first = launch.error.lock();
      if (first->has_value()) return;
      first->emplace(error);
    }
    launch.abort.raise(error, machine.executor());
  }

  Stream& stream_;
  std::shared_ptr<Launch> launch_;
  bool started_ = false;
};

KernelContext::KernelContext(Machine& machine, const Place& place, KernelObserver* observer,
                             const AbortFlag& abort)
    : Accessor(machine.executor(), place.rank), machine_(machine), place_(place), abort_(abort) {
  set_user_code(observer, &abort);
}

Result<Window> KernelContext::window(const void* address, std::size_t bytes,
                                     std::size_t alignment) const {
  return machine_.memory().resolve(address, bytes, alignment);
}

Result<Window> KernelContext::window(std::uint64_t address, std::size_t bytes,
                                     std::size_t alignment) const {
  return window(reinterpret_cast<const void*>(address), bytes, alignment);
}

Result<Window> KernelContext::remote_window(std::uint32_t key, std::uint64_t address,
                                            std::size_t bytes, std::size_t alignment) const {
  return machine_.remote_keys().resolve(key, address, bytes, alignment);
}

const Doorbell* KernelContext::doorbell(std::uint64_t address) const {
  return machine_.find_doorbell(reinterpret_cast<const void*>(address));
}

void KernelContext::event(const char* name, Phase phase, std::int64_t a, std::int64_t b) {
  if (!machine_.events().active()) return;
  machine_.events().publish(
      {.time = now(), .name = name, .phase = phase, .rank = rank(), .a = a, .b = b});
}

Status launch_function(Stream& stream, const LaunchConfig& config, KernelFunction function) {
  if (config.blocks < 1) {
    return Error::make(Code::kBadArgument, fmt::format("a launch of {} blocks", config.blocks));
  }
  LaunchConfig filled = config;
  if (filled.rank < 0) filled.rank = stream.device();
  return stream.enqueue(
      std::make_unique<KernelWork>(stream, std::move(filled), std::move(function)));
}

Status call(Stream& stream, std::function<Status()> function) {
  return launch_function(
      stream, {.name = "host callback"},
      [function = std::move(function)](KernelContext&) -> Status { return function(); });
}

}  // namespace commrig::device
