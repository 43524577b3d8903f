// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/root_service.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "bootstrap/rank_list.h"

namespace commrig::bootstrap {
namespace {

constexpr std::size_t kDeliveriesAtOnce = 64;

Nanos later(Nanos start, Nanos by) {
  return start == kForever || by >= kForever - start ? kForever : start + by;
}

}  // namespace

RootService::RootService(Root& root, Executor& executor, Listener listener,
                         const RootOptions& options)
    : root_(root),
      executor_(executor),
      options_(options),
      entrance_(std::move(listener), root.id().magic(), kCheckInBytes, options.limits) {}

void RootService::run() {
  std::vector<pollfd> polls;
  while (true) {
    polls.clear();
    entrance_.watch(polls);
    for (const Guest& guest : guests_) {
      polls.push_back({.fd = guest.socket.descriptor(), .events = POLLIN, .revents = 0});
    }
    for (const Delivery& delivery : deliveries_) polls.push_back(delivery.watch());
    const Status status = executor_.poll({.descriptors = polls,
                                          .what = "ranks to check in",
                                          .abort = &root_.closing_,
                                          .deadline = next_look()});
    if (!status && status.error().code != Code::kDeadline) {
      root_.set_outcome(status.error());
      say_goodbye();
      return;
    }
    look_at(polls);
    look_at_time();
    start_deliveries();
  }
}

void RootService::look_at(const std::vector<pollfd>& polls) {
  const std::span all(polls);
  const std::size_t guests_at = entrance_.watched();
  const std::size_t deliveries_at = guests_at + guests_.size();
  const std::size_t guests = guests_.size();
  const std::size_t deliveries = deliveries_.size();

  std::vector<bool> finished(deliveries);
  for (std::size_t i = 0; i < deliveries; ++i) {
    bool done = false;
    if (all[deliveries_at + i].revents != 0) step(deliveries_[i], done);
    finished[i] = done;
  }
  std::size_t index = 0;
  std::erase_if(deliveries_, [&](const Delivery&) { return finished[index++]; });

  std::vector<Guest> rest;
  for (std::size_t i = 0; i < guests; ++i) {
    if (all[guests_at + i].revents == 0 || hear(guests_[i])) rest.push_back(std::move(guests_[i]));
  }
  guests_ = std::move(rest);

  receive(entrance_.advance(all.first(guests_at), executor_.now()));
}

void RootService::receive(Entrance::News news) {
  for (Entrance::Arrival& arrival : news.arrivals) admit(std::move(arrival));
  if (news.wrong) fail(*news.wrong);
}

void RootService::admit(Entrance::Arrival arrival) {
  const auto record = decode_check_in(std::span(arrival.payload).first<kCheckInBytes>());
  if (!record) {
    fail(Error::make(record.error().code,
                     fmt::format("{}: {}", arrival.socket.peer(), record.error().message)));
    return;
  }
  // Ranks of other libraries have closed by now; then this goes nowhere.
  const Handshake hello = make_handshake(root_.id().magic());
  const bool stays = arrival.socket.write_some(hello).has_value();
  const std::string from = arrival.socket.peer();
  if (stays) guests_.push_back(Guest{std::move(arrival.socket), record->rank, {}});
  if (refusal_) {
    tell(record->rank, record->answer_to, *refusal_);
    return;
  }
  const auto due = roster_.check_in(*record, from);
  if (!due) {
    tell(record->rank, record->answer_to, due.error());
    fail(due.error());
    return;
  }
  if (roster_.present() == 1) {
    first_check_in_ = executor_.now();
    next_naming_ = later(first_check_in_, options_.name_missing_every);
    answered_.assign(static_cast<std::size_t>(roster_.ranks()), false);
    answers_left_ = roster_.ranks();
  }
  for (const Roster::Answer& answer : *due) {
    queue_.emplace_back(answer.rank, answer.to,
                        with_handshake(root_.id().magic(), framed(answer.next)), true);
  }
  root_.count(root_.present_);
}

bool RootService::hear(Guest& guest) {
  std::array<std::byte, 16> bytes{};
  while (true) {
    const Result<Moved> moved = guest.socket.read_some(bytes);
    if (!moved || moved->ended) {
      on_gone(guest);
      return false;
    }
    if (moved->bytes == 0) return true;
    const std::size_t wanted = sizeof(std::int32_t) - guest.process.size();
    const std::size_t taken = std::min(wanted, moved->bytes);
    guest.process.insert(guest.process.end(), bytes.begin(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    if (taken != 0 && guest.attached()) root_.count(root_.attached_);
  }
}

// A rank ends its connection once both neighbours are connected, so not before all three were here.
void RootService::on_gone(const Guest& guest) {
  if (refusal_ || !guest.attached()) return;
  const int ranks = roster_.ranks();
  const auto rank = static_cast<std::size_t>(guest.rank);
  if (answered_[rank] && roster_.has((guest.rank + ranks - 1) % ranks)) return;
  std::int32_t process = 0;
  std::memcpy(&process, guest.process.data(), sizeof(process));
  fail(Error::make(Code::kRankLost,
                   fmt::format("rank {} at {} (process {}) ended while ranks were checking in; {}",
                               guest.rank, guest.socket.peer(), process, state())));
}

void RootService::start_deliveries() {
  while (!queue_.empty() && deliveries_.size() < kDeliveriesAtOnce) {
    Delivery delivery = std::move(queue_.front());
    queue_.pop_front();
    bool finished = false;
    step(delivery, finished);
    if (!finished) deliveries_.push_back(std::move(delivery));
  }
}

void RootService::step(Delivery& delivery, bool& finished) {
  const Result<bool> done = delivery.step();
  finished = !done || *done;
  if (!finished || !delivery.required() || refusal_) return;
  if (!done) {
    fail(Error::make(Code::kRankLost, fmt::format("rank {} does not take its answer: {}",
                                                  delivery.rank(), done.error().message)));
    return;
  }
  answered_[static_cast<std::size_t>(delivery.rank())] = true;
  if (--answers_left_ != 0) return;
  refusal_ = Error::make(Code::kIdUsed,
                         fmt::format("unique id {} (hash {:#x}) belongs to a communicator of {} "
                                     "ranks that is complete",
                                     root_.id().to_string(), root_.id().hash(), roster_.ranks()));
  root_.set_outcome(ok());
}

void RootService::look_at_time() {
  if (refusal_ || roster_.ranks() == 0 || roster_.complete()) return;
  const Nanos now = executor_.now();
  if (now >= later(first_check_in_, options_.ranks_within)) {
    fail(Error::make(Code::kRankAbsent,
                     fmt::format("{} s after the first one, {}",
                                 options_.ranks_within.count() / 1'000'000'000, state())));
    return;
  }
  if (now < next_naming_) return;
  next_naming_ = later(now, options_.name_missing_every);
  log(LogLevel::kWarning, "bootstrap: " + state());
}

// Ranks that wait for their answer learn why it won't come.
void RootService::tell(int rank, const Address& to, const Error& error) {
  queue_.emplace_back(rank, to, with_handshake(root_.id().magic(), make_notice(error)), false);
}

void RootService::fail(const Error& error) {
  if (refusal_) {
    log(LogLevel::kDebug, "bootstrap: " + error.message);
    return;
  }
  refusal_ = error;
  log(LogLevel::kError, "bootstrap: " + to_string(error));
  std::erase_if(queue_, [](const Delivery& delivery) { return delivery.required(); });
  for (int rank = 0; rank < roster_.ranks(); ++rank) {
    const bool waits = roster_.has(rank) && !answered_[static_cast<std::size_t>(rank)];
    if (waits) tell(rank, roster_.answer_to(rank), error);
  }
  root_.set_outcome(error);
}

// As far as it goes without waiting; the end of the connection says the rest.
void RootService::say_goodbye() {
  const auto notice = make_notice(Error::make(
      Code::kRootLost, refusal_ ? refusal_->message : "the root was closed; " + state()));
  for (const Guest& guest : guests_) (void)guest.socket.write_some(notice);
}

Nanos RootService::next_look() const {
  Nanos next = entrance_.next_look();
  if (!refusal_ && roster_.ranks() != 0 && !roster_.complete()) {
    next = std::min({next, next_naming_, later(first_check_in_, options_.ranks_within)});
  }
  return next;
}

std::string RootService::state() const {
  if (roster_.ranks() == 0) return "no rank has checked in";
  const auto missing = roster_.missing();
  if (missing.empty()) return fmt::format("all {} ranks have checked in", roster_.ranks());
  return fmt::format("{} of {} ranks have checked in; missing: {}", roster_.present(),
                     roster_.ranks(), rank_list(missing));
}

}  // namespace commrig::bootstrap
