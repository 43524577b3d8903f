// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/log.h"

namespace commrig::rig {
namespace {

constexpr int kDevicesUsually = 8;
constexpr int kDevicesMax = 1024;

std::optional<std::string_view> variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What launchers call the number of ranks on this host.
constexpr std::array kLocalRanks = {"COMMRIG_LOCAL_RANKS", "LOCAL_WORLD_SIZE",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

std::optional<int> local_ranks() {
  for (const char* const name : kLocalRanks) {
    if (const std::optional<int> value = number(variable(name).value_or(""))) return value;
  }
  return std::nullopt;
}

Result<int> read_device_count() {
  if (const auto text = variable("COMMRIG_DEVICES")) {
    const std::optional<int> value = number(*text);
    if (value && *value >= 1 && *value <= kDevicesMax) return *value;
    return Error::make(
        Code::kBadArgument,
        fmt::format("COMMRIG_DEVICES is '{}'; expected a number from 1 to {}", *text, kDevicesMax));
  }
  return std::clamp(local_ranks().value_or(kDevicesUsually), kDevicesUsually, kDevicesMax);
}

struct Start {
  pid_t process;
  Result<Runtime*> runtime;
};

Start start() {
  // Not in the place of one that the process has chosen.
  if (const LogSink previous = set_log_sink(stderr_sink)) set_log_sink(previous);
  const Result<int> devices = read_device_count();
  if (!devices) return {getpid(), devices.error()};
  // Never deleted, see Runtime.
  auto* const made = new Runtime(*devices);  // tidy: allow(new) lives until the process ends
  if (auto stream = made->machine().create_stream(0); !stream) return {getpid(), stream.error()};
  return {getpid(), made};
}

thread_local int callback_depth = 0;
thread_local int current = 0;

}  // namespace

Runtime::Runtime(int devices)
    : machine_(executor_, events_, {.devices = devices}),
      lobby_(executor_, machine_, bootstrap::process_environment) {
  machine_.end_stalls([this] { return executor_.outsiders(); });
}

Result<Runtime*> runtime() {
  static const Start kStart = start();
  if (kStart.process != getpid()) [[unlikely]] {
    return Error::make(Code::kForked, fmt::format("process {} was forked from process {}", getpid(),
                                                  kStart.process));
  }
  return kStart.runtime;
}

Result<int> device_count() {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  return found->machine().devices();
}

bool devices_are_own(int devices) {
  return variable("CUDA_VISIBLE_DEVICES") || devices < local_ranks().value_or(1);
}

int current_device() {
  return current;
}

Status check_device(int device) {
  COMMRIG_ASSIGN(const int devices, device_count());
  if (device >= 0 && device < devices) return ok();
  return Error::make(Code::kBadDevice,
                     fmt::format("device {} of {} devices; COMMRIG_DEVICES, or commrig run "
                                 "--devices, gives more",
                                 device, devices));
}

Status set_current_device(int device) {
  COMMRIG_TRY(check_device(device));
  current = device;
  return ok();
}

void report(const Error& error) {
  log(LogLevel::kError, to_string(error));
}

Status check_not_in_callback() {
  if (callback_depth == 0) return ok();
  return Error::make(Code::kInCallback, "a host function on a stream has called the runtime");
}

CallbackScope::CallbackScope() {
  ++callback_depth;
}

CallbackScope::~CallbackScope() {
  --callback_depth;
}

Status run_together(const std::vector<std::function<void()>>& bodies) {
  if (bodies.size() == 1) {
    bodies.front()();
    return ok();
  }
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  Executor& executor = found->executor();
  // Shared with the threads, of which the last one may still wake when the wait is over.
  const auto running = std::make_shared<std::atomic<std::size_t>>(0);
  Status status = ok();
  for (const auto& body : bodies) {
    running->fetch_add(1, std::memory_order_relaxed);
    Status begun = executor.spawn(Role::kUserCode, "cr-job", [&executor, &body, running] {
      body();
      running->fetch_sub(1, std::memory_order_acq_rel);
      executor.wake(running.get());
    });
    if (begun) continue;
    running->fetch_sub(1, std::memory_order_relaxed);
    status = std::move(begun);
    break;
  }
  COMMRIG_TRY(
      executor.wait({.key = running.get(),
                     .ready = [&running] { return running->load(std::memory_order_acquire) == 0; },
                     .what = "jobs of a group"}));
  return status;
}

Status spawn(const std::string& name, std::function<void()> body) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  return found->executor().spawn(Role::kUserCode, name, std::move(body));
}

Status wait_until(FunctionRef<bool()> condition, const char* what) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  return found->machine().drive_until(condition, what, kForever);
}

void poke() {
  if (const Result<Runtime*> found = runtime()) (*found)->machine().poke();
}

}  // namespace commrig::rig
