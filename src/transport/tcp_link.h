// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/guarded.h"
#include "base/socket.h"
#include "transport/ending.h"
#include "transport/link.h"
#include "transport/poller.h"
#include "transport/tcp_frame.h"

namespace commrig::transport {

struct TcpLinkOptions {
  Ends ends{};  // without the place, which is the socket's peer
  Socket socket{};
  Poller& poller;  // must outlive the link, and so must
  Waker& waker;    // the waker
};

// Messages over a connected stream socket, one connection per pair of ranks. Nothing is buffered
// but the system's own: a message is sent when the kernel has its last byte. The poller watches the
// socket only while a call has returned kPending, and calls the waker once for that.
//
// An abort, or a message of a wrong length, is told to the other end in the stream; see
// tcp_frame.h. The service thread does that when the sender's thread doesn't come any more, and
// reads on, so that the other end comes to the place where it is told.
class TcpLink final : public Link, private PollHandler {
 public:
  static Result<std::unique_ptr<Link>> create(TcpLinkOptions options);
  ~TcpLink() override;
  TcpLink(const TcpLink&) = delete;
  TcpLink& operator=(const TcpLink&) = delete;

  Result<Progress> send(Outgoing& message) override;
  Result<Progress> recv(Incoming& message) override;
  using Link::abort;
  void abort(int lost_rank) override;
  int lost_rank() const override;
  void lose(const Error& error) override;
  std::string_view kind() const override { return "tcp"; }

 private:
  // The message on its way and how much of each part is in the kernel.
  struct Out {
    std::uint32_t sequence = 0;
    bool in_message = false;
    FrameHeader header{};
    std::size_t header_done = 0;
    std::size_t data_done = 0;
    std::size_t piece_end = 0;
    std::uint32_t mark = kMarkGood;
    std::size_t mark_done = 0;
    std::optional<FrameHeader> last_words{};
    std::size_t last_words_done = 0;
  };
  using LockedOut = Guarded<Out>::Locked;

  explicit TcpLink(TcpLinkOptions options);
  void on_ready(std::uint32_t events) override;

  static void begin(Out& out, const Outgoing& message);
  Result<bool> write(Out& out, const std::byte* data) const;
  Result<bool> write_piece(Out& out, const std::byte* data) const;
  static void advance(Out& out, std::size_t written);
  void say_last(FrameKind kind, std::uint64_t bytes, std::uint64_t expected);
  bool flush_last_words(Out& out) const;
  Error sending_failed(const Error& error);

  Result<std::size_t> read_some(std::span<std::byte> bytes, const FrameReader& reader) const;
  Error take_last_words(const FrameHeader& header);
  void look_for_last_words();
  bool discard_input();
  void arm(std::uint32_t events);

  Ends ends_;
  Socket socket_;
  Poller& poller_;
  Waker& waker_;
  Guarded<Out> out_;
  Guarded<FrameReader> in_;
  Guarded<std::uint32_t> armed_;
  std::atomic<int> told_lost_{kNobody};
  Ending broken_;       // nothing moves any more
  Ending send_failed_;  // the peer takes nothing; what it has sent may still be received
  Ending lost_;         // says somebody who knows
};

}  // namespace commrig::transport
