// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/entrance.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/log.h"

namespace commrig::bootstrap {
namespace {

void log_dropped(const Socket& socket, std::string_view why) {
  log(LogLevel::kDebug, fmt::format("bootstrap: dropped {}: {}", socket.peer(), why));
}

}  // namespace

Entrance::Entrance(Listener listener, std::uint64_t magic, std::optional<std::size_t> payload_bytes,
                   const EntranceLimits& limits)
    : listener_(std::move(listener)),
      magic_(magic),
      payload_bytes_(payload_bytes),
      limits_(limits) {}

void Entrance::watch(std::vector<pollfd>& polls) const {
  polls.push_back({.fd = listener_.descriptor(), .events = POLLIN, .revents = 0});
  for (const Visitor& visitor : visitors_) {
    polls.push_back({.fd = visitor.socket.descriptor(), .events = POLLIN, .revents = 0});
  }
}

Entrance::News Entrance::advance(std::span<const pollfd> polls, Nanos now) {
  COMMRIG_CHECK(polls.size() == watched(), fmt::to_string(polls.size()));
  News news;
  std::deque<Visitor> rest;
  for (std::size_t i = 0; i < visitors_.size(); ++i) {
    Visitor& visitor = visitors_[i];
    if (polls[i + 1].revents != 0 && read(visitor, news)) continue;
    if (now - visitor.since >= limits_.handshake_within) {
      log_dropped(visitor.socket, "it did not say who it is in time");
      continue;
    }
    rest.push_back(std::move(visitor));
  }
  visitors_ = std::move(rest);
  if (polls.front().revents == 0) return news;
  if (const Status status = accept_all(now, news); !status && !news.wrong) {
    news.wrong = status.error();
  }
  return news;
}

Status Entrance::accept_all(Nanos now, News& news) {
  while (true) {
    Result<std::optional<Socket>> taken = listener_.try_accept();
    if (!taken && !visitors_.empty()) {  // Mostly out of descriptors: strangers go first.
      log_dropped(visitors_.front().socket, taken.error().message);
      visitors_.pop_front();
      continue;
    }
    if (!taken) return taken.error();
    if (!taken->has_value()) return ok();
    if (visitors_.size() >= limits_.unknown_max) {
      log_dropped(visitors_.front().socket, "too many connections that say nothing");
      visitors_.pop_front();
    }
    Visitor visitor{**std::move(taken), MessageReader(magic_, payload_bytes_), now};
    if (!read(visitor, news)) visitors_.push_back(std::move(visitor));
  }
}

bool Entrance::read(Visitor& visitor, News& news) const {
  while (true) {
    const Result<Moved> moved = visitor.socket.read_some(visitor.reader.space());
    if (!moved || moved->ended) {
      log_dropped(visitor.socket,
                  moved ? "it closed before it had said all" : moved.error().message);
      return true;
    }
    if (moved->bytes == 0) return false;
    const auto state = visitor.reader.advance(moved->bytes);
    if (!state) {
      if (news.wrong) return true;
      news.wrong = Error::make(state.error().code,
                               fmt::format("{}: {}", visitor.socket.peer(), state.error().message));
      return true;
    }
    if (*state == MessageReader::State::kStranger) {
      log_dropped(visitor.socket, "it does not know this unique id");
      return true;
    }
    if (*state == MessageReader::State::kDone) {
      const auto payload = visitor.reader.payload();
      news.arrivals.push_back(Arrival{std::move(visitor.socket), {payload.begin(), payload.end()}});
      return true;
    }
  }
}

Nanos Entrance::next_look() const {
  return visitors_.empty() ? kForever : visitors_.front().since + limits_.handshake_within;
}

bool Entrance::hears_somebody() const {
  return std::ranges::any_of(visitors_,
                             [](const Visitor& visitor) { return visitor.reader.knows_id(); });
}

}  // namespace commrig::bootstrap
