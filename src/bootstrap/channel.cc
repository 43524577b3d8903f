// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/channel.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace commrig::bootstrap {
namespace {

constexpr std::size_t kEarlyBytesMax = std::size_t{64} << 20U;

}  // namespace

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

bool Channel::listening() const {
  if (ended_ || receiving_) return false;
  return head_filled_ < kLengthBytes || notice_filled_ < notice_.size() ||
         (!early_done_ && head_length() <= kEarlyBytesMax);
}

short Channel::events() const {
  return static_cast<short>((sending() ? POLLOUT : 0) | (receiving_ || listening() ? POLLIN : 0));
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
  if (early_done_) {
    COMMRIG_TRY(check_length(early_.size()));
    std::ranges::copy(early_, in_.begin());
    early_done_ = false;
    receiving_ = false;
    return ok();
  }
  COMMRIG_ASSIGN(const bool has_head, read_head());
  if (!has_head) return ok();
  COMMRIG_TRY(check_length(head_length()));
  if (early_filled_ != 0) {  // It had begun to come before it was asked for.
    std::copy_n(early_.begin(), early_filled_, in_.begin());
    received_ = std::exchange(early_filled_, 0);
  }
  COMMRIG_ASSIGN(const bool whole, read_into(in_, received_));
  if (!whole) return ok();
  receiving_ = false;
  head_filled_ = 0;
  return ok();
}

Result<bool> Channel::look() {
  while (listening()) {
    const Result<bool> has_head = read_head();
    if (!has_head && ended_) return false;
    COMMRIG_TRY(has_head);
    if (!*has_head) return true;
    if (early_done_ || head_length() > kEarlyBytesMax) return true;
    early_.resize(head_length());
    const Result<bool> whole = read_into(early_, early_filled_);
    if (!whole && ended_) return false;
    if (!whole || !*whole) return whole ? Result<bool>(true) : whole;
    early_done_ = true;
    early_filled_ = 0;
    head_filled_ = 0;
  }
  return !ended_;
}

std::uint32_t Channel::head_length() const {
  std::uint32_t length = 0;
  std::memcpy(&length, head_.data(), sizeof(length));
  return length;
}

Result<bool> Channel::read_into(std::span<std::byte> bytes, std::size_t& filled) {
  while (filled < bytes.size()) {
    const Result<Moved> moved = socket_.read_some(bytes.subspan(filled));
    ended_ = !moved || moved->ended;
    if (!moved) return lost(moved.error().message);
    if (moved->ended) return lost("it closed the connection");
    if (moved->bytes == 0) return false;
    filled += moved->bytes;
  }
  return true;
}

Result<bool> Channel::read_head() {
  COMMRIG_ASSIGN(const bool whole, read_into(head_, head_filled_));
  if (!whole) return false;
  COMMRIG_ASSIGN(const std::optional<std::size_t> bytes, notice_length(head_length()));
  if (!bytes) return true;
  notice_.resize(*bytes);
  COMMRIG_ASSIGN(const bool told, read_into(notice_, notice_filled_));
  if (!told) return false;
  return read_notice(notice_);
}

Status Channel::check_length(std::size_t length) const {
  if (length == in_.size()) return ok();
  return Error::make(Code::kSetupMismatch,
                     fmt::format("rank {} at {} sent a block of {} bytes, expected {}", peer_rank_,
                                 socket_.peer(), length, in_.size()));
}

Error Channel::lost(const std::string& reason) const {
  return Error::make(Code::kRankLost,
                     fmt::format("rank {} at {} was lost: {}", peer_rank_, socket_.peer(), reason));
}

// A neighbour that gives up says why before it closes, and what it said can still be read when
// writing fails.
Error Channel::lost_or_told(const std::string& reason) {
  if (receiving_) {
    if (const Status status = recv(); !status) return status.error();
  }
  const Result<bool> there = look();
  return there ? lost(reason) : there.error();
}

void Channel::say(const Error& error) {
  if (sending() && sent_ != 0) return;
  // More than a socket takes at once is of no use to the neighbour: then the end says it.
  (void)socket_.write_some(make_notice(error));
}

}  // namespace commrig::bootstrap
