// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/root.h"

#include <utility>

#include "base/check.h"
#include "base/process.h"
#include "base/rng.h"
#include "base/socket.h"
#include "bootstrap/root_service.h"

namespace commrig::bootstrap {

Result<std::unique_ptr<Root>> Root::open(Executor& executor, const RootOptions& options) {
  COMMRIG_TRY(raise_descriptor_limit());
  COMMRIG_ASSIGN(Listener listener, Listener::open(options.listen));
  const UniqueId id(options.magic ? *options.magic : unforeseeable(), listener.address());
  std::unique_ptr<Root> root(new Root(executor, id));  // tidy: allow(new) private constructor
  auto service = std::make_unique<RootService>(*root, executor, std::move(listener), options);
  root->running_.store(true);
  const Status spawned =
      executor.spawn(Role::kService, "boot-root",
                     // Shared, because std::function wants to be copied; nobody else holds it.
                     [service = std::shared_ptr<RootService>(std::move(service)), raw = root.get(),
                      &executor]() mutable {
                       service->run();
                       service.reset();
                       raw->running_.store(false, std::memory_order_release);
                       executor.wake(&raw->running_);  // From the store on, `raw` may be gone.
                     });
  if (!spawned) root->running_.store(false);
  COMMRIG_TRY(spawned);
  return root;
}

Root::~Root() {
  close();
  const Status ended =
      executor_.wait({.key = &running_,
                      .ready = [this] { return !running_.load(std::memory_order_acquire); },
                      .what = "the end of the root's service"});
  COMMRIG_CHECK(ended.has_value(), to_string(ended.error()));
}

void Root::close() {
  closing_.raise(Error::make(Code::kAborted, "the root was closed"), executor_);
}

Status Root::wait_served(const AbortFlag* abort, Nanos deadline) {
  COMMRIG_TRY(executor_.wait({.key = &decided_,
                              .ready = [this] { return decided_.load(std::memory_order_acquire); },
                              .what = "the root to have served every rank",
                              .abort = abort,
                              .deadline = deadline}));
  return **outcome_.lock();
}

Status Root::wait_present(int ranks, const AbortFlag* abort, Nanos deadline) {
  return wait_for(present_, ranks, abort, deadline);
}

Status Root::wait_attached(int ranks, const AbortFlag* abort, Nanos deadline) {
  return wait_for(attached_, ranks, abort, deadline);
}

Status Root::wait_for(const std::atomic<int>& counter, int ranks, const AbortFlag* abort,
                      Nanos deadline) {
  const auto reached = [&] { return counter.load(std::memory_order_acquire) >= ranks; };
  COMMRIG_TRY(executor_.wait(
      {.key = &present_,
       .ready = [&] { return reached() || decided_.load(std::memory_order_acquire); },
       .what = "ranks to check in",
       .abort = abort,
       .deadline = deadline}));
  if (reached()) return ok();
  return **outcome_.lock();
}

void Root::set_outcome(const Status& outcome) {
  {
    const auto held = outcome_.lock();
    if (held->has_value()) return;
    held->emplace(outcome);
  }
  decided_.store(true, std::memory_order_release);
  executor_.wake(&decided_);
  executor_.wake(&present_);
}

void Root::count(std::atomic<int>& counter) {
  counter.fetch_add(1, std::memory_order_release);
  executor_.wake(&present_);
}

}  // namespace commrig::bootstrap
