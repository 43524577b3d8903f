// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/channel.h"

#include <poll.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace commrig::bootstrap {

Channel::Channel(Socket socket, int peer_rank)
    : socket_(std::move(socket)), peer_rank_(peer_rank) {}

void Channel::begin_send(std::span<const std::byte> bytes) {
  COMMRIG_CHECK(!sending(), "one message at a time");
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(out_head_.data(), &length, sizeof(length));
  out_ = bytes;
  sent_ = 0;
}

void Channel::begin_recv(std::span<std::byte> bytes) {
  COMMRIG_CHECK(!receiving_, "one message at a time");
  in_ = bytes;
  received_ = 0;
  receiving_ = true;
}

short Channel::events() const {
  return static_cast<short>((sending() ? POLLOUT : 0) | (receiving_ ? POLLIN : 0));
}

Status Channel::step() {
  if (receiving_) COMMRIG_TRY(recv());
  if (sending()) COMMRIG_TRY(send());
  return ok();
}

Status Channel::send() {
  while (sending()) {
    const std::span<const std::byte> rest = sent_ < kLengthBytes
                                                ? std::span(out_head_).subspan(sent_)
                                                : out_.subspan(sent_ - kLengthBytes);
    const Result<Moved> moved = socket_.write_some(rest);
    if (!moved) return lost_or_told(moved.error().message);
    if (moved->bytes == 0) return ok();
    sent_ += moved->bytes;
  }
  out_ = {};
  sent_ = kLengthBytes;
  return ok();
}

Status Channel::recv() {
  COMMRIG_ASSIGN(const bool has_head, read_head());
  if (!has_head) return ok();
  COMMRIG_TRY(check_head());
  while (received_ < in_.size()) {
    const Result<Moved> moved = socket_.read_some(in_.subspan(received_));
    if (!moved) return lost(moved.error().message);
    if (moved->ended) return lost("it closed the connection within a message");
    if (moved->bytes == 0) return ok();
    received_ += moved->bytes;
  }
  receiving_ = false;
  head_filled_ = 0;
  return ok();
}

Status Channel::look() {
  COMMRIG_ASSIGN(const bool has_head, read_head());
  if (!has_head) return ok();
  return ok();
}

Result<bool> Channel::read_head() {
  while (head_filled_ < kLengthBytes) {
    const Result<Moved> moved = socket_.read_some(std::span(head_).subspan(head_filled_));
    if (!moved) return lost(moved.error().message);
    if (moved->ended) return lost("it closed the connection");
    if (moved->bytes == 0) return false;
    head_filled_ += moved->bytes;
  }
  return read_notice_rest();
}

// False while a notice is on its way; its end is the error.
Result<bool> Channel::read_notice_rest() {
  std::uint32_t length = 0;
  std::memcpy(&length, head_.data(), sizeof(length));
  COMMRIG_ASSIGN(const std::optional<std::size_t> bytes, notice_length(length));
  if (!bytes) return true;
  notice_.resize(*bytes);
  while (notice_filled_ < notice_.size()) {
    const Result<Moved> moved = socket_.read_some(std::span(notice_).subspan(notice_filled_));
    if (!moved) return lost(moved.error().message);
    if (moved->ended) return lost("it closed the connection within a notice");
    if (moved->bytes == 0) return false;
    notice_filled_ += moved->bytes;
  }
  return read_notice(notice_);
}

Status Channel::check_head() {
  std::uint32_t length = 0;
  std::memcpy(&length, head_.data(), sizeof(length));
  if (length == in_.size()) return ok();
  return Error::make(Code::kSetupMismatch,
                     fmt::format("rank {} at {} sent a block of {} bytes, expected {}", peer_rank_,
                                 socket_.peer(), static_cast<std::int32_t>(length), in_.size()));
}

Error Channel::lost(const std::string& reason) {
  return Error::make(Code::kRankLost,
                     fmt::format("rank {} at {} was lost: {}", peer_rank_, socket_.peer(), reason));
}

// A neighbour that gives up says why before it closes, and what it said can still be read when
// writing fails.
Error Channel::lost_or_told(const std::string& reason) {
  if (receiving_) {
    if (const Status status = recv(); !status) return status.error();
    if (receiving_) return lost(reason);
  }
  const Result<bool> head = read_head();
  return head ? lost(reason) : head.error();
}

void Channel::say(const Error& error) {
  if (sending() && sent_ != 0) return;
  // More than a socket takes at once is of no use to the neighbour: then the end says it.
  (void)socket_.write_some(make_notice(error));
}

}  // namespace commrig::bootstrap
