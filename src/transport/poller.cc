// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace commrig::transport {
namespace {

Error refused(const char* call, int descriptor) {
  return Error::make(Code::kSystemCall,
                     fmt::format("{} of descriptor {}: {}", call, descriptor,
                                 std::error_code(errno, std::generic_category()).message()));
}

}  // namespace

Result<std::unique_ptr<Poller>> Poller::start(Executor& executor) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return refused("epoll_create1", -1);
  Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return refused("eventfd", -1);
  epoll_event event{.events = EPOLLIN, .data = {.fd = bell.get()}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, bell.get(), &event) != 0) {
    return refused("epoll_ctl", bell.get());
  }
  std::unique_ptr<Poller> poller(new Poller(  // tidy: allow(new) the constructor is private
      executor, std::move(epoll), std::move(bell)));
  COMMRIG_TRY(executor.spawn(Role::kService, "commrig-poller", [raw = poller.get()] {
    // Its end is the last thing that touches the poller.
    raw->run();
    Executor& own = raw->executor_;
    std::atomic<bool>* const ended = &raw->ended_;
    ended->store(true, std::memory_order_release);
    own.wake(ended);
  }));
  poller->started_ = true;
  return poller;
}

Poller::~Poller() {
  if (!started_) return;
  closing_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  // An eventfd refuses only when it is about to overflow, and is readable then as well.
  if (::write(bell_.get(), &one, sizeof(one)) < 0) closing_.store(true);
  const auto ended = [this] { return ended_.load(std::memory_order_acquire); };
  const Status status =
      executor_.wait({.key = &ended_, .ready = ended, .what = "the poller's thread"});
  COMMRIG_CHECK(status.has_value(), to_string(status.error()));
}

Status Poller::add(int descriptor, PollHandler& handler) {
  const auto handlers = handlers_.lock();
  epoll_event event{.events = EPOLLONESHOT, .data = {.fd = descriptor}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return refused("epoll_ctl", descriptor);
  }
  (*handlers)[descriptor] = &handler;
  return ok();
}

void Poller::arm(int descriptor, std::uint32_t events) {
  epoll_event event{.events = events | EPOLLONESHOT, .data = {.fd = descriptor}};
  const int result = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event);
  COMMRIG_CHECK(result == 0, refused("arming", descriptor).message);
}

void Poller::remove(int descriptor) {
  const auto handlers = handlers_.lock();
  if (handlers->erase(descriptor) == 0) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Poller::tell(int descriptor, std::uint32_t events) {
  const auto handlers = handlers_.lock();
  const auto found = handlers->find(descriptor);
  if (found != handlers->end()) found->second->on_ready(events);
}

void Poller::run() {
  std::array<epoll_event, 64> events{};
  while (!closing_.load(std::memory_order_acquire)) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    COMMRIG_CHECK(count >= 0 || errno == EINTR, refused("epoll_wait", epoll_.get()).message);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd != bell_.get()) tell(event.data.fd, event.events);
    }
  }
}

}  // namespace commrig::transport
