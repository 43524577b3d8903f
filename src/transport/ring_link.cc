// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/ring_link.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace commrig::transport {
namespace {

// States of an outgoing message.
constexpr std::uint64_t kNew = 0;
constexpr std::uint64_t kStreaming = 1;
constexpr std::uint64_t kInOffer = 2;

// A long message is published in pieces, so that the peer copies one while the next is written.
constexpr std::size_t kPiece = 16 * 1024;

// Sequentially consistent where one side announces that it waits and then looks, and the other one
// changes something and then looks who waits.
constexpr auto kOrdered = std::memory_order_seq_cst;

void write_ring(std::span<std::byte> ring, std::uint64_t position, const void* source,
                std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t start = position % ring.size();
  const std::size_t first = std::min(bytes, ring.size() - start);
  std::memcpy(ring.data() + start, source, first);
  std::memcpy(ring.data(), static_cast<const std::byte*>(source) + first, bytes - first);
}

void read_ring(std::span<const std::byte> ring, std::uint64_t position, void* target,
               std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t start = position % ring.size();
  const std::size_t first = std::min(bytes, ring.size() - start);
  std::memcpy(target, ring.data() + start, first);
  std::memcpy(static_cast<std::byte*>(target) + first, ring.data(), bytes - first);
}

// The one who waits is woken once for each time that it has said so.
void wake_waiting(std::atomic<std::uint32_t>& waits, Waker& waker) {
  if (waits.load(kOrdered) != 0 && waits.exchange(0, kOrdered) != 0) waker.wake();
}

}  // namespace

RingLink::RingLink(const RingLinkOptions& options)
    : options_(options),
      memory_(*options_.memory),
      out_(memory_.lanes[options_.side]),
      in_(memory_.lanes[options_.loops ? options_.side : 1 - options_.side]),
      out_ring_(memory_.ring(options_.side)),
      in_ring_(memory_.ring(options_.loops ? options_.side : 1 - options_.side)) {
  in_.ways.store(options_.access.ways(), kOrdered);
}

RingLink::~RingLink() {
  memory_.closed[options_.side].store(1, kOrdered);
  options_.peer_waker.wake();
}

void RingLink::abort(int lost_rank) {
  // 1 is for nobody; who comes first says it.
  std::uint32_t none = 0;
  memory_.aborted.compare_exchange_strong(none, static_cast<std::uint32_t>(lost_rank + 2),
                                          kOrdered);
  options_.waker.wake();
  options_.peer_waker.wake();
}

// What the peer has said counts more than that it is gone itself by now.
int RingLink::lost_rank() const {
  const std::uint32_t told = memory_.aborted.load(kOrdered);
  if (told >= 2) return static_cast<int>(told) - 2;
  const std::optional<Error> error = lost_.error();
  return error.has_value() && error->code == Code::kPeerLost ? options_.ends.peer : kNobody;
}

void RingLink::lose(const Error& error) {
  lost_.set(error);
  options_.waker.wake();
}

// The other end can't know what was wrong, only that nobody listens any more.
Error RingLink::break_off(const Error& error) {
  broken_.set(error);
  abort();
  return *broken_.error();
}

// What ends both directions at once.
std::optional<Error> RingLink::ended() const {
  if (auto error = broken_.error()) return error;
  if (memory_.aborted.load(kOrdered) != 0) return aborted(options_.ends, lost_rank());
  const auto [rank, peer, place] = options_.ends;
  if (out_.refused.load(kOrdered) != 0) return refused(rank, out_.sent, peer, out_.expected);
  if (in_.refused.load(kOrdered) != 0) return refused(peer, in_.sent, rank, in_.expected);
  return std::nullopt;
}

std::optional<Error> RingLink::peer_gone(std::size_t moved, std::size_t bytes) const {
  if (auto error = lost_.error()) return error;
  const int side = options_.loops ? options_.side : 1 - options_.side;
  if (memory_.closed[side].load(kOrdered) != 0) return closed(options_.ends, moved, bytes);
  return std::nullopt;
}

Result<Progress> RingLink::send(Outgoing& message) {
  COMMRIG_ASSIGN(const Progress progress, try_send(message));
  if (progress == Progress::kDone) return progress;
  out_.sender_waits.store(1, kOrdered);
  return try_send(message);  // What came before the peer could see that we wait.
}

Result<Progress> RingLink::try_send(Outgoing& message) {
  if (const auto error = ended()) return give_up(message, *error);
  // Looked at before the offer: a peer may take the last message and leave.
  const auto gone = peer_gone(0, 0);
  if (message.state == kInOffer && out_.offer.load(kOrdered) == Offer::kTaken) {
    out_.offer.store(Offer::kNone, kOrdered);
    message.moved = message.bytes;
    return Progress::kDone;
  }
  if (gone) return give_up(message, *gone);
  if (message.state == kNew) {
    COMMRIG_ASSIGN(const bool begun, begin(message));
    if (!begun) return Progress::kPending;
  }
  return message.state == kStreaming ? stream_out(message) : Progress::kPending;
}

// The bytes of an offered message are the sender's again once the peer can't begin to copy them any
// more, or has ended.
Result<Progress> RingLink::give_up(const Outgoing& message, const Error& error) {
  if (message.state != kInOffer || !options_.peer_reads_in_place) return error;
  Offer offer = Offer::kOffered;
  if (out_.offer.compare_exchange_strong(offer, Offer::kWithdrawn, kOrdered)) return error;
  if (offer == Offer::kTaking) return Progress::kPending;
  return error;
}

Result<bool> RingLink::begin(Outgoing& message) {
  COMMRIG_ASSIGN(const std::size_t room, free_bytes());
  if (room < sizeof(RingHeader)) return false;
  const bool offered =
      message.bytes > options_.eager_bytes &&
      options_.access.offers(message.data, message.bytes, out_.ways.load(kOrdered));
  const RingHeader header{
      .kind = offered ? RingHeader::kOffered : RingHeader::kInline,
      .sequence = sender_.sequence++,
      .bytes = message.bytes,
      .address = offered ? reinterpret_cast<std::uintptr_t>(message.data) : 0,
      .elements = message.elements,
  };
  write_ring(out_ring_, sender_.tail, &header, sizeof(header));
  sender_.tail += sizeof(header);
  message.state = offered ? kInOffer : kStreaming;
  if (offered) out_.offer.store(Offer::kOffered, kOrdered);
  if (offered) publish_tail();  // Otherwise together with the first bytes.
  return true;
}

Result<Progress> RingLink::stream_out(Outgoing& message) {
  while (true) {
    COMMRIG_ASSIGN(const std::size_t room, free_bytes());
    const std::size_t piece = std::min({room, message.bytes - message.moved, kPiece});
    write_ring(out_ring_, sender_.tail, message.data + message.moved, piece);
    sender_.tail += piece;
    message.moved += piece;
    publish_tail();
    if (message.moved == message.bytes) return Progress::kDone;
    if (piece == 0) return Progress::kPending;
  }
}

Result<std::size_t> RingLink::free_bytes() {
  const std::uint64_t used = sender_.tail - out_.head.load(kOrdered);
  if (used <= out_ring_.size()) return out_ring_.size() - used;
  return break_off(
      Error::make(Code::kBadFrame,
                  fmt::format("{} says that it has read up to {}, and {} was sent",
                              name_of_peer(options_.ends), sender_.tail - used, sender_.tail)));
}

void RingLink::publish_tail() {
  if (out_.tail.load(std::memory_order_relaxed) == sender_.tail) return;
  out_.tail.store(sender_.tail, kOrdered);
  wake_waiting(out_.receiver_waits, options_.peer_waker);
}

Result<Progress> RingLink::recv(Incoming& message) {
  COMMRIG_ASSIGN(const Progress progress, try_recv(message));
  if (progress == Progress::kDone) return progress;
  in_.receiver_waits.store(1, kOrdered);
  return try_recv(message);  // What came before the peer could see that we wait.
}

Result<Progress> RingLink::try_recv(Incoming& message) {
  if (const auto error = ended()) return *error;
  // Looked at before the ring: what a peer has sent before it went away is there then.
  const RingHeader& header = receiver_.header;
  const auto gone = peer_gone(message.moved, receiver_.has_header ? header.bytes : 0);
  Progress progress = Progress::kPending;
  if (!receiver_.has_header) {
    COMMRIG_ASSIGN(receiver_.has_header, take_header(message));
  }
  if (receiver_.has_header) {
    const bool offered = header.kind == RingHeader::kOffered;
    // Nobody promises that the bytes are still there.
    if (offered && gone) return *peer_gone(0, header.bytes);
    COMMRIG_ASSIGN(progress, offered ? take_offer(message) : stream_in(message));
  }
  if (progress == Progress::kDone) receiver_.has_header = false;
  if (progress == Progress::kPending && gone) return *gone;
  return progress;
}

Result<bool> RingLink::take_header(const Incoming& message) {
  COMMRIG_ASSIGN(const std::size_t ready, ready_bytes());
  if (ready < sizeof(RingHeader)) return false;
  RingHeader& header = receiver_.header;
  read_ring(in_ring_, receiver_.head, &header, sizeof(header));
  receiver_.head += sizeof(header);
  const bool known = header.kind == RingHeader::kInline || header.kind == RingHeader::kOffered;
  if (!known || header.sequence != receiver_.sequence) {
    return break_off(Error::make(
        Code::kBadFrame,
        fmt::format("{} has sent a header of kind {:#x} and number {}; expected number {}",
                    name_of_peer(options_.ends), header.kind, header.sequence,
                    receiver_.sequence)));
  }
  ++receiver_.sequence;
  const auto elements = static_cast<Elements>(header.elements);
  if (agree(header.bytes, elements, message)) return true;
  refuse(shape_of(header.bytes, elements), shape_of(message.bytes, message.elements));
  return *ended();
}

// Both ends fail, since neither can go on.
void RingLink::refuse(std::uint64_t sent, std::uint64_t expected) {
  in_.sent.store(sent, kOrdered);
  in_.expected.store(expected, kOrdered);
  in_.refused.store(1, kOrdered);
  options_.waker.wake();
  options_.peer_waker.wake();
}

Result<Progress> RingLink::take_offer(const Incoming& message) {
  Offer offer = Offer::kOffered;
  if (!in_.offer.compare_exchange_strong(offer, Offer::kTaking, kOrdered)) {
    // Withdrawn, so the link has ended; the sender has said so before.
    const auto error = ended();
    return error ? *error : closed(options_.ends, 0, message.bytes);
  }
  const Status status =
      options_.access.read(receiver_.header.address, {message.data, message.bytes});
  in_.offer.store(Offer::kTaken, kOrdered);
  wake_waiting(in_.sender_waits, options_.peer_waker);
  if (!status) return break_off(status.error());
  publish_head();
  // The bytes of a message that was given up meanwhile may be wrong.
  if (const auto error = ended()) return *error;
  return Progress::kDone;
}

Result<Progress> RingLink::stream_in(Incoming& message) {
  while (true) {
    COMMRIG_ASSIGN(const std::size_t ready, ready_bytes());
    const std::size_t piece = std::min(ready, message.bytes - message.moved);
    read_ring(in_ring_, receiver_.head, message.data + message.moved, piece);
    receiver_.head += piece;
    message.moved += piece;
    publish_head();
    if (message.moved == message.bytes) return Progress::kDone;
    if (piece == 0) return Progress::kPending;
  }
}

Result<std::size_t> RingLink::ready_bytes() {
  const std::uint64_t ready = in_.tail.load(kOrdered) - receiver_.head;
  if (ready <= in_ring_.size()) return ready;
  return break_off(Error::make(Code::kBadFrame,
                               fmt::format("{} says that {} bytes lie in a ring of {}",
                                           name_of_peer(options_.ends), ready, in_ring_.size())));
}

void RingLink::publish_head() {
  if (in_.head.load(std::memory_order_relaxed) == receiver_.head) return;
  in_.head.store(receiver_.head, kOrdered);
  wake_waiting(in_.sender_waits, options_.peer_waker);
}

}  // namespace commrig::transport
