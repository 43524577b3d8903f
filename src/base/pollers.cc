// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/pollers.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace commrig {
namespace {

Error poll_error(const char* call, const char* what) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(Code::kSystemCall,
                     fmt::format("{} while waiting for {}: {}", call, what, text));
}

// poll(2) until the deadline; the number of ready descriptors, 0 when a signal came.
int poll_until(std::vector<pollfd>& all, Nanos deadline, const Clock& clock) {
  constexpr Nanos kDay = std::chrono::hours(24);
  timespec left{};
  if (deadline != kForever) {
    const Nanos remaining = std::clamp(deadline - clock.now(), Nanos::zero(), kDay);
    left.tv_sec = static_cast<time_t>(remaining.count() / 1'000'000'000);
    left.tv_nsec = static_cast<long>(remaining.count() % 1'000'000'000);
  }
  const int ready =
      ::ppoll(all.data(), all.size(), deadline == kForever ? nullptr : &left, nullptr);
  return ready < 0 && errno == EINTR ? 0 : ready;
}

}  // namespace

class Pollers::Turn {
 public:
  explicit Turn(Guarded<Bells>& bells) : bells_(bells) {
    const auto held = bells_.lock();
    if (held->idle.empty()) {
      bell_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    } else {
      bell_ = std::move(held->idle.back());
      held->idle.pop_back();
    }
    if (bell_) held->in_use.push_back(bell_.get());
  }
  ~Turn() {
    if (!bell_) return;
    const auto held = bells_.lock();
    std::erase(held->in_use, bell_.get());
    silence();
    held->idle.push_back(std::move(bell_));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool ready() const { return static_cast<bool>(bell_); }
  int number() const { return bell_.get(); }
  void silence() const {
    std::uint64_t rings = 0;
    (void)!::read(bell_.get(), &rings, sizeof(rings));  // Fails when it has not rung.
  }

 private:
  Guarded<Bells>& bells_;
  Descriptor bell_;
};

Status Pollers::poll(const PollSpec& spec, const Clock& clock) {
  const Turn turn(bells_);
  if (!turn.ready()) return poll_error("eventfd", spec.what);
  std::vector<pollfd> all(spec.descriptors.begin(), spec.descriptors.end());
  all.push_back(pollfd{.fd = turn.number(), .events = POLLIN, .revents = 0});
  while (true) {
    // The bell was entered before this look, so an abort that it misses rings.
    if (spec.abort != nullptr && spec.abort->raised()) {
      if (std::optional<Error> error = spec.abort->error()) return *std::move(error);
    }
    const int ready = poll_until(all, spec.deadline, clock);
    if (ready < 0) return poll_error("poll", spec.what);
    const bool rung = all.back().revents != 0;
    if (ready > (rung ? 1 : 0)) {
      std::copy(all.begin(), all.end() - 1, spec.descriptors.begin());
      return ok();
    }
    if (rung) turn.silence();
    if (spec.deadline != kForever && clock.now() >= spec.deadline) {
      return Error::make(Code::kDeadline, fmt::format("waited for {}", spec.what));
    }
  }
}

void Pollers::wake_all() {
  const auto held = bells_.lock();
  for (const int bell : held->in_use) {
    const std::uint64_t one = 1;
    (void)!::write(bell, &one, sizeof(one));  // Fails only when it has rung 2^64 times.
  }
}

}  // namespace commrig
