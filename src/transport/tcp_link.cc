// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/tcp_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace commrig::transport {
namespace {

// Of which last words may speak.
constexpr std::uint64_t kRanksMax = 1U << 20U;

constexpr std::size_t kZeroBytes = 4096;
constexpr std::array<std::byte, kZeroBytes> kZeros{};

// How many messages are sent between two looks at what the peer may have said last. A look is a
// system call, and a peer that has given up reads on meanwhile.
constexpr std::uint32_t kBetweenLooks = 16;

constexpr std::size_t kDiscardBytes = 64 * 1024;

std::string system_text(int error) {
  return std::error_code(error, std::generic_category()).message();
}

// Bytes that the kernel took, 0 for none now.
Result<std::size_t> write_parts(const Socket& socket, std::span<iovec> parts) {
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket.descriptor(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return std::size_t{0};
  return Error::make(Code::kPeerLost, system_text(errno));
}

iovec part_of(const void* start, std::size_t done, std::size_t bytes) {
  return {const_cast<std::byte*>(static_cast<const std::byte*>(start)) + done, bytes - done};
}

}  // namespace

Result<std::unique_ptr<Link>> TcpLink::create(TcpLinkOptions options) {
  // Small messages must not wait for more; not every kind of socket has the option.
  const int on = 1;
  ::setsockopt(options.socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  std::unique_ptr<TcpLink> link(
      new TcpLink(std::move(options)));  // tidy: allow(new) the constructor is private
  COMMRIG_TRY(link->poller_.add(link->socket_.descriptor(), *link));
  return std::unique_ptr<Link>(std::move(link));
}

TcpLink::TcpLink(TcpLinkOptions options)
    : ends_(std::move(options.ends)),
      socket_(std::move(options.socket)),
      poller_(options.poller),
      waker_(options.waker) {
  ends_.peer_place = fmt::format("tcp {}", socket_.peer());
}

TcpLink::~TcpLink() {
  poller_.remove(socket_.descriptor());
  {
    const auto out = out_.lock();
    if (out->last_words) flush_last_words(*out);
  }
  // A socket that is closed with unread bytes takes back what the peer has not read yet.
  ::shutdown(socket_.descriptor(), SHUT_WR);
  discard_input();
}

void TcpLink::lose(const Error& error) {
  lost_.set(error);
  waker_.wake();
}

void TcpLink::abort(int lost_rank) {
  broken_.set(aborted(ends_, lost_rank));
  // As a number that is 0 for nobody.
  say_last(FrameKind::kAbort, static_cast<std::uint64_t>(lost_rank + 1), 0);
  waker_.wake();
}

// What the peer has said counts more than what was seen of its end: a peer that says who was lost
// may be gone itself when this rank next sends to it.
int TcpLink::lost_rank() const {
  const int told = told_lost_.load(std::memory_order_acquire);
  if (told >= 0) return told;
  for (const Ending* ending : {&broken_, &send_failed_, &lost_}) {
    const std::optional<Error> error = ending->error();
    if (error.has_value()) return error->code == Code::kPeerLost ? ends_.peer : kNobody;
  }
  return kNobody;
}

// ---- sending

void TcpLink::begin(Out& out, const Outgoing& message) {
  out.in_message = true;
  out.header = make_header(FrameKind::kMessage, out.sequence++, message.bytes, message.elements);
  out.header_done = 0;
  out.data_done = 0;
  out.piece_end = std::min(message.bytes, kPieceBytes);
  out.mark = kMarkGood;
  out.mark_done = 0;
}

void TcpLink::advance(Out& out, std::size_t written) {
  const auto pass = [&written](std::size_t& done, std::size_t end) {
    const std::size_t step = std::min(written, end - done);
    done += step;
    written -= step;
  };
  pass(out.header_done, sizeof(out.header));
  pass(out.data_done, out.piece_end);
  pass(out.mark_done, out.header.bytes == 0 ? 0 : kMarkBytes);
}

// What is left of the header, the piece and its mark. Zeros stand for the data of a message that
// was given up. False when the kernel takes no more.
Result<bool> TcpLink::write_piece(Out& out, const std::byte* data) const {
  const bool given_up = data == nullptr;
  if (given_up && out.mark_done == 0) out.mark = kMarkVoid;
  const std::size_t mark_bytes = out.header.bytes == 0 ? 0 : kMarkBytes;
  while (true) {
    const std::size_t data_left = out.piece_end - out.data_done;
    const std::size_t step = given_up ? std::min(data_left, kZeroBytes) : data_left;
    const bool reaches_mark = step == data_left;
    std::array<iovec, 3> parts{
        part_of(&out.header, out.header_done, sizeof(out.header)),
        given_up ? part_of(kZeros.data(), 0, step)
                 : part_of(data, out.data_done, out.data_done + step),
        part_of(&out.mark, out.mark_done, reaches_mark ? mark_bytes : out.mark_done)};
    std::size_t left = 0;
    for (const iovec& part : parts) left += part.iov_len;
    if (left == 0) return true;
    COMMRIG_ASSIGN(const std::size_t written, write_parts(socket_, parts));
    if (written == 0) return false;
    advance(out, written);
  }
}

// True when the message is in the kernel, or when it is void and nothing of it may follow.
Result<bool> TcpLink::write(Out& out, const std::byte* data) const {
  while (true) {
    COMMRIG_ASSIGN(const bool written, write_piece(out, data));
    if (!written) return false;
    if (out.data_done == out.header.bytes || out.mark == kMarkVoid) break;
    // An abort waits for no more than a piece.
    if (data != nullptr && broken_.is_set()) return false;
    out.piece_end = std::min<std::size_t>(out.header.bytes, out.piece_end + kPieceBytes);
    out.mark_done = 0;
  }
  out.in_message = false;
  return true;
}

Result<Progress> TcpLink::send(Outgoing& message) {
  if (message.state == 0 && out_.lock()->sequence % kBetweenLooks == 0) look_for_last_words();
  for (const Ending* ending : {&broken_, &lost_, &send_failed_}) {
    if (const auto error = ending->error()) return *error;
  }
  {
    const auto out = out_.lock();
    // Somebody may have aborted since we looked.
    if (out->last_words) return broken_.error().value_or(aborted(ends_, kNobody));
    if (message.state == 0) begin(*out, message);
    message.state = 1;
    // Messages without bytes may have no address; that would mean that they were given up.
    const std::byte* const data = message.bytes == 0 ? kZeros.data() : message.data;
    const Result<bool> written = write(*out, data);
    message.moved = out->data_done;
    if (written && *written) return Progress::kDone;
    if (!written) send_failed_.set(written.error());
  }
  look_for_last_words();
  if (const auto error = broken_.error()) return *error;
  if (const auto error = send_failed_.error()) return sending_failed(*error);
  arm(EPOLLOUT);
  return Progress::kPending;
}

Error TcpLink::sending_failed(const Error& error) {
  return Error{
      error.code,
      fmt::format("{}, to which rank {} sends: {}", name_of_peer(ends_), ends_.rank, error.message),
      error.location};
}

// The end of what this end says. Called once something has broken; the first caller's word counts.
void TcpLink::say_last(FrameKind kind, std::uint64_t bytes, std::uint64_t expected) {
  const auto out = out_.lock();
  if (out->last_words) return;
  // A message under way has taken its number.
  out->last_words = make_header(kind, out->sequence++, bytes, expected);
  flush_last_words(*out);
  // The service thread does the rest, and reads what the peer still sends.
  arm(out->last_words_done < sizeof(FrameHeader) ? EPOLLOUT | EPOLLIN : EPOLLIN);
}

// True when all is said, or nobody listens.
bool TcpLink::flush_last_words(Out& out) const {
  if (out.in_message) {
    const Result<bool> written = write(out, nullptr);
    if (!written) return true;
    if (!*written) return false;
  }
  while (out.last_words_done < sizeof(FrameHeader)) {
    std::array<iovec, 1> rest{part_of(&*out.last_words, out.last_words_done, sizeof(FrameHeader))};
    const Result<std::size_t> written = write_parts(socket_, rest);
    if (!written) return true;
    if (*written == 0) return false;
    out.last_words_done += *written;
  }
  return true;
}

// ---- receiving

Result<std::size_t> TcpLink::read_some(std::span<std::byte> bytes,
                                       const FrameReader& reader) const {
  ssize_t read = 0;
  do {
    read = ::recv(socket_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  } while (read < 0 && errno == EINTR);
  if (read > 0) return static_cast<std::size_t>(read);
  if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::size_t{0};
  const std::string how =
      read == 0 ? fmt::format("has closed its link to rank {}", ends_.rank)
                : fmt::format("has lost its link to rank {}: {}", ends_.rank, system_text(errno));
  const std::string where =
      reader.in_message()
          ? fmt::format(", in the middle of a message of {} bytes", reader.header().bytes)
          : "";
  return Error::make(Code::kPeerLost, fmt::format("{} {}{}", name_of_peer(ends_), how, where));
}

Result<Progress> TcpLink::recv(Incoming& message) {
  if (const auto error = broken_.error()) return *error;
  const std::uint64_t expected = shape_of(message.bytes, message.elements);
  std::optional<std::uint64_t> sent;  // of a message that is refused
  {
    const auto in = in_.lock();
    const auto source = [&](std::span<std::byte> bytes) { return read_some(bytes, *in); };
    const Result<FrameReader::Event> event = in->read(message, source);
    if (!event) {
      broken_.set(
          event.error().code == Code::kBadFrame
              ? Error::make(Code::kBadFrame, name_of_peer(ends_) + ": " + event.error().message)
              : event.error());
    } else if (*event == FrameReader::Event::kMessage) {
      return Progress::kDone;
    } else if (*event == FrameReader::Event::kLastWords) {
      return take_last_words(in->header());
    } else if (*event == FrameReader::Event::kRefused) {
      const FrameHeader& header = in->header();
      sent = shape_of(header.bytes, static_cast<Elements>(header.expected));
      broken_.set(refused(ends_.peer, *sent, ends_.rank, expected));
    }
  }
  if (sent) say_last(FrameKind::kRefusal, *sent, expected);
  if (const auto error = broken_.error()) return *error;
  if (const auto error = lost_.error()) return *error;
  arm(EPOLLIN);
  return Progress::kPending;
}

Error TcpLink::take_last_words(const FrameHeader& header) {
  if (header.kind == FrameKind::kAbort && header.bytes <= kRanksMax) {
    told_lost_.store(static_cast<int>(header.bytes) - 1, std::memory_order_release);
  }
  broken_.set(header.kind == FrameKind::kRefusal
                  ? refused(ends_.rank, header.bytes, ends_.peer, header.expected)
                  : aborted(ends_, told_lost_.load(std::memory_order_acquire)));
  return *broken_.error();
}

// For a sender whose rank doesn't receive at the moment. Where the next bytes belong to a message,
// or another thread receives, that one will find them.
void TcpLink::look_for_last_words() {
  const auto in = in_.try_lock();
  if (!in || (*in)->in_message()) return;
  FrameReader& reader = **in;
  const auto source = [&](std::span<std::byte> bytes) { return read_some(bytes, reader); };
  const Result<FrameReader::Event> event = reader.look_for_last_words(source);
  if (!event) {
    broken_.set(event.error());
  } else if (*event == FrameReader::Event::kLastWords) {
    take_last_words(reader.header());
  }
}

// Reads what nobody wants, not for long; false when no more will come.
bool TcpLink::discard_input() {
  constexpr int kReads = 16;
  const auto in = in_.lock();
  std::array<std::byte, kDiscardBytes> bytes;
  for (int i = 0; i < kReads; ++i) {
    const Result<std::size_t> read = read_some(bytes, *in);
    if (!read) return false;
    if (*read < bytes.size()) break;
  }
  return true;
}

// ---- waiting

void TcpLink::arm(std::uint32_t events) {
  const auto armed = armed_.lock();
  if ((*armed & events) == events) return;
  *armed |= events;
  poller_.arm(socket_.descriptor(), *armed);
}

void TcpLink::on_ready(std::uint32_t events) {
  {
    // Whatever happens tells both directions of an error.
    const auto armed = armed_.lock();
    const bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
    *armed = failed ? 0 : *armed & ~events;
    if (*armed != 0) poller_.arm(socket_.descriptor(), *armed);
  }
  bool says_last = false;
  bool flushed = true;
  {
    const auto out = out_.lock();
    says_last = out->last_words.has_value();
    if (says_last) flushed = flush_last_words(*out);
  }
  if (says_last && discard_input()) arm(flushed ? EPOLLIN : EPOLLIN | EPOLLOUT);
  waker_.wake();
}

}  // namespace commrig::transport
