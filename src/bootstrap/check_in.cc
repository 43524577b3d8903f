// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/check_in.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bootstrap/entrance.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {
namespace {

// A root of ours that is flooded by strangers may drop a check-in now and then.
constexpr int kDropsMax = 100;

// The connection to the root after the record was sent. A root of ours says hello and keeps it;
// another one reads the record and closes. One that has too many visitors drops it unread; the
// system tells that by a reset, since what was sent was never read.
class RootLine {
 public:
  RootLine(Socket socket, std::uint64_t magic)
      : socket_(std::move(socket)), reader_(magic, kNoMessage) {}

  bool attached() const { return attached_; }
  // Nothing more will come.
  bool ended() const { return ended_; }
  // The record was not read.
  bool dropped() const { return reset_ && !attached_; }
  pollfd watch() const {
    return {.fd = reset_ || (ended_ && attached_) ? -1 : socket_.descriptor(),
            .events = static_cast<short>(ended_ ? 0 : POLLIN),
            .revents = 0};
  }
  Socket take() { return std::move(socket_); }

  // Reads what has come, as poll() told. An error is a notice.
  Status hear(short events) {
    if (ended_ && (events & (POLLERR | POLLHUP)) != 0) reset_ = true;
    while (!ended_) {
      const Result<Moved> moved = socket_.read_some(reader_.space());
      if (!moved) reset_ = true;
      if (!moved || moved->ended) {
        ended_ = true;
        return ok();
      }
      if (moved->bytes == 0) return ok();
      COMMRIG_ASSIGN(const MessageReader::State state, reader_.advance(moved->bytes));
      if (state == MessageReader::State::kStranger) ended_ = true;
      if (reader_.knows_id() && !attached_) attach();
    }
    return ok();
  }

 private:
  // Longer than a message can be: only notices come over this connection.
  static constexpr std::size_t kNoMessage = kNoticeFlag - 1;

  void attach() {
    const std::int32_t process = ::getpid();
    (void)socket_.write_some(
        std::as_bytes(std::span(&process, 1)));  // The root's end shows itself.
    attached_ = true;
  }

  Socket socket_;
  MessageReader reader_;
  bool ended_ = false;
  bool reset_ = false;
  bool attached_ = false;
};

Error root_lost(const CheckInSpec& spec, const std::string& reason) {
  return Error::make(Code::kRootLost,
                     fmt::format("rank {} can't reach the root of unique id {} (hash {:#x}): {}",
                                 spec.rank, spec.id.to_string(), spec.id.hash(), reason));
}

Result<Socket> send_record(const CheckInSpec& spec, const Address& answer_to,
                           const Waiting& waiting) {
  const bool root_first = spec.root_by < waiting.deadline;
  const Waiting connecting{waiting.executor, waiting.abort,
                           std::min(spec.root_by, waiting.deadline)};
  Result<Socket> socket = connect(spec.id.root(), connecting, spec.refused);
  if (!socket && (socket.error().code == Code::kConnection ||
                  (root_first && socket.error().code == Code::kDeadline))) {
    return root_lost(spec, socket.error().message);
  }
  if (!socket) return socket.error();
  CheckIn record;
  record.rank = spec.rank;
  record.ranks = spec.ranks;
  record.answer_to = answer_to;
  record.info = make_info(spec.ring);
  const auto bytes = with_handshake(spec.id.magic(), framed(encode(record)));
  const Status sent = socket->write_all(bytes, "a check-in", waiting);
  // A connection that was dropped meanwhile shows itself as such when it is read from.
  if (!sent && sent.error().code != Code::kConnection) return sent.error();
  return socket;
}

Result<Address> read_answer(const CheckInSpec& spec, std::span<const std::byte> payload) {
  ConnectInfo info{};
  std::copy(payload.begin(), payload.end(), info.begin());
  const auto next = ring_address(info);
  if (!next || next->port() == 0) {
    return Error::make(
        Code::kSetupMismatch,
        fmt::format("answer of the root to rank {}: address of rank {}: {}", spec.rank,
                    (spec.rank + 1) % spec.ranks, next ? "no port" : next.error().message));
  }
  return *next;
}

}  // namespace

Result<CheckedIn> check_in(const CheckInSpec& spec, const Waiting& waiting) {
  COMMRIG_ASSIGN(Listener listener, Listener::open(spec.listen));
  const Address answer_to = listener.address();
  Entrance entrance(std::move(listener), spec.id.magic(), kInfoBytes);
  COMMRIG_ASSIGN(Socket socket, send_record(spec, answer_to, waiting));
  RootLine root(std::move(socket), spec.id.magic());

  std::vector<pollfd> polls;
  int drops = 0;
  while (true) {
    polls.clear();
    entrance.watch(polls);
    polls.push_back(root.watch());
    const Nanos look = std::min(entrance.next_look(), waiting.deadline);
    const Status status = waiting.executor.poll({.descriptors = polls,
                                                 .what = "the answer of the root",
                                                 .abort = waiting.abort,
                                                 .deadline = look});
    if (!status &&
        (status.error().code != Code::kDeadline || waiting.executor.now() >= waiting.deadline)) {
      return status.error();
    }
    COMMRIG_TRY(root.hear(polls.back().revents));
    const auto news =
        entrance.advance(std::span(polls).first(entrance.watched()), waiting.executor.now());
    if (!news.arrivals.empty()) {
      COMMRIG_ASSIGN(const Address next, read_answer(spec, news.arrivals.front().payload));
      return CheckedIn{next, root.take()};
    }
    if (news.wrong) return *news.wrong;
    if (root.dropped()) {
      if (++drops == kDropsMax) {
        return root_lost(spec, fmt::format("it dropped the check-in {} times", drops));
      }
      COMMRIG_ASSIGN(socket, send_record(spec, answer_to, waiting));
      root = RootLine(std::move(socket), spec.id.magic());
      continue;
    }
    // What the root said before its end may lie in the queue of the listener.
    const bool queue_is_empty = polls.front().revents == 0;
    if (root.ended() && root.attached() && queue_is_empty && !entrance.hears_somebody()) {
      return root_lost(spec, "it ended before it answered");
    }
  }
}

}  // namespace commrig::bootstrap
