// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/peer_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "transport/peers.h"

namespace commrig::transport {
namespace {

// Whether `bytes` at `address` lie in the `size` bytes at `base`.
bool inside(std::uint64_t address, std::size_t bytes, std::uint64_t base, std::size_t size) {
  return address >= base && address - base <= size && bytes <= size - (address - base);
}

// Bytes read before the first failure, with errno; a call moves 2 GiB at most.
std::size_t read_process(pid_t process, std::uint64_t address, std::span<std::byte> target) {
  std::size_t done = 0;
  while (done < target.size()) {
    iovec local{target.data() + done, target.size() - done};
    iovec remote{reinterpret_cast<void*>(address + done), target.size() - done};
    const ssize_t moved = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved <= 0) break;
    done += static_cast<std::size_t>(moved);
  }
  return done;
}

}  // namespace

bool allow_readers() {
  // Without Yama there is no such option, and nothing to allow.
  return ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0 || errno == EINVAL;
}

void PeerMemory::PeerWaker::wake() {
  if (Door* const door = peer_.door()) ring(*door);
}

PeerMemory::PeerMemory(PeerMemoryOptions options)
    : rank_(options.rank),
      socket_(options.socket.descriptor()),
      memory_(options.memory),
      own_door_(options.door),
      maps_arenas_(options.maps_arenas),
      reads_host_(options.reads_host),
      probe_word_(std::make_unique<std::uint64_t>()),
      state_(std::make_unique<State>(std::move(options.socket))) {
  // Differs from what stands at this address in another process.
  *probe_word_ = reinterpret_cast<std::uintptr_t>(probe_word_.get()) * 0x9E3779B97F4A7C15U +
                 static_cast<std::uint64_t>(::getpid());
}

Result<std::unique_ptr<PeerMemory>> PeerMemory::create(PeerMemoryOptions options) {
  std::unique_ptr<PeerMemory> peer(
      new PeerMemory(std::move(options)));  // tidy: allow(new) the constructor is private
  {
    const auto state = peer->state_.lock();
    COMMRIG_TRY(peer->greet(**state));
    COMMRIG_TRY(peer->share(**state));
  }
  return peer;
}

Status PeerMemory::greet(State& state) {
  const Note hello{.kind = Note::kHello,
                   .number = static_cast<std::uint64_t>(::getpid()),
                   .address = reinterpret_cast<std::uintptr_t>(probe_word_.get()),
                   .bytes = own_door_ != nullptr ? own_door_->bytes() : 0,
                   .tag = {*probe_word_, 0}};
  const auto sent = state.channel.send(hello, own_door_ ? own_door_->descriptor() : -1);
  if (!sent) return with_rank(sent.error());
  if (*sent) return ok();
  return with_rank(Error::make(Code::kPeerLost, "a fresh connection takes no bytes"));
}

Status PeerMemory::share_new() {
  if (memory_ == nullptr) return ok();
  if (shared_.load(std::memory_order_acquire) >= memory_->segment_count()) return ok();
  return share(**state_.lock());
}

Status PeerMemory::share(State& state) {
  if (memory_ == nullptr) return ok();
  for (const device::ArenaSegment& segment : memory_->segments_from(state.shared)) {
    const Note note{.kind = Note::kSegment,
                    .number = segment.number,
                    .address = reinterpret_cast<std::uintptr_t>(segment.base),
                    .bytes = segment.bytes};
    const auto sent = state.channel.send(note, segment.descriptor);
    if (!sent) return with_rank(sent.error());
    if (!*sent) {
      return Error::make(Code::kSystemCall,
                         fmt::format("rank {} does not read what this process shares: segment {} "
                                     "can't be passed to it",
                                     rank_, segment.number));
    }
    state.shared = segment.number + 1;
    shared_.store(state.shared, std::memory_order_release);
  }
  return ok();
}

Result<bool> PeerMemory::meet() {
  const auto state = state_.lock();
  COMMRIG_TRY(read_notes(**state));
  return (*state)->met;
}

Status PeerMemory::read_notes(State& state) {
  while (true) {
    auto received = state.channel.receive();
    if (!received) return with_rank(received.error());
    if (!received->has_value()) return ok();
    Received& next = **received;
    switch (next.note.kind) {
      case Note::kHello:
        COMMRIG_TRY(take_hello(state, std::move(next)));
        break;
      case Note::kSegment:
        COMMRIG_TRY(take_segment(state, std::move(next)));
        break;
      case Note::kGift: {
        COMMRIG_ASSIGN(Segment segment, Segment::map(std::move(next.descriptor), next.note.bytes));
        state.gifts.insert_or_assign({next.note.tag[0], next.note.tag[1]}, std::move(segment));
        break;
      }
      default:
        return with_rank(
            Error::make(Code::kBadFrame, fmt::format("a note of the unknown kind {}",
                                                     static_cast<std::uint32_t>(next.note.kind))));
    }
  }
}

Status PeerMemory::take_hello(State& state, Received received) {
  process_.store(received.sender, std::memory_order_release);
  if (reads_host_ && received.sender != 0) {
    host_readable_.store(probe(received.sender, received.note), std::memory_order_release);
  }
  if (received.descriptor) {
    if (received.note.bytes < sizeof(Door)) {
      return with_rank(
          Error::make(Code::kBadFrame, fmt::format("a door of {} bytes", received.note.bytes)));
    }
    COMMRIG_ASSIGN(state.door, Segment::map(std::move(received.descriptor), received.note.bytes));
    door_.store(std::launder(reinterpret_cast<Door*>(state.door.base())),
                std::memory_order_release);
  }
  state.met = true;
  return ok();
}

Status PeerMemory::take_segment(State& state, Received received) {
  if (!maps_arenas_) return ok();
  const Note& note = received.note;
  for (const Mapped& known : state.mapped) {
    const bool overlaps =
        note.address < known.base + known.segment.bytes() && known.base < note.address + note.bytes;
    if (!overlaps && note.number != known.number) continue;
    return with_rank(Error::make(Code::kBadFrame,
                                 fmt::format("segment {} at {:#x} overlaps segment {} at {:#x}",
                                             note.number, note.address, known.number, known.base)));
  }
  COMMRIG_ASSIGN(Segment segment, Segment::map(std::move(received.descriptor), note.bytes));
  state.mapped.push_back({note.address, note.number, std::move(segment)});
  return ok();
}

// Whether this process may read the other one's memory, and it is the one that is meant.
bool PeerMemory::probe(pid_t process, const Note& hello) const {
  std::uint64_t found = 0;
  const std::size_t read =
      read_process(process, hello.address, std::as_writable_bytes(std::span(&found, 1)));
  return read == sizeof(found) && found == hello.tag[0];
}

Result<std::byte*> PeerMemory::find(const State& state, std::uint64_t address,
                                    std::size_t bytes) const {
  for (const Mapped& mapped : state.mapped) {
    if (inside(address, bytes, mapped.base, mapped.segment.bytes())) {
      return mapped.segment.base() + (address - mapped.base);
    }
  }
  return unknown(state, address, bytes);
}

Error PeerMemory::unknown(const State& state, std::uint64_t address, std::size_t bytes) const {
  std::string text = fmt::format("rank {}: {} bytes at its address {:#x}", rank_, bytes, address);
  for (const Mapped& mapped : state.mapped) {
    if (!inside(address, 0, mapped.base, mapped.segment.bytes())) continue;
    text += fmt::format(" run past the end of its segment {} ({} bytes at {:#x})", mapped.number,
                        mapped.segment.bytes(), mapped.base);
    return Error::make(Code::kPeerAddress, std::move(text));
  }
  text += fmt::format(" lie in none of the {} segments that it shares", state.mapped.size());
  return Error::make(Code::kPeerAddress, std::move(text));
}

Error PeerMemory::with_rank(const Error& error) const {
  return Error{
      error.code,
      fmt::format("rank {} (process {} of this host): {}", rank_, process(), error.message),
      error.location};
}

Result<std::byte*> PeerMemory::translate(std::uint64_t address, std::size_t bytes) {
  const auto locked = state_.lock();
  State& state = **locked;
  auto found = find(state, address, bytes);
  if (found) return found;
  // The segment may be one that the peer has shared since we looked. That the peer has ended
  // meanwhile takes nothing away from what it has shared before.
  const Status status = read_notes(state);
  found = find(state, address, bytes);
  if (found || status) return found;
  return status.error();
}

Status PeerMemory::give(const Tag& tag, const Segment& segment) {
  const auto state = state_.lock();
  const Note note{.kind = Note::kGift, .bytes = segment.bytes(), .tag = {tag.first, tag.second}};
  const auto sent = (*state)->channel.send(note, segment.descriptor());
  if (!sent) return with_rank(sent.error());
  if (*sent) return ok();
  return with_rank(Error::make(Code::kSystemCall, "the connection takes no more segments now"));
}

Result<std::optional<Segment>> PeerMemory::take(const Tag& tag) {
  const auto locked = state_.lock();
  State& state = **locked;
  const Status status = read_notes(state);
  const auto found = state.gifts.find(tag);
  if (found == state.gifts.end()) {
    if (!status) return status.error();
    return std::optional<Segment>();
  }
  std::optional<Segment> gift(std::move(found->second));
  state.gifts.erase(found);
  return gift;
}

std::uint32_t PeerMemory::ways() const {
  std::uint32_t ways = 0;
  if (maps_arenas_) ways |= kReadsArena;
  if (host_readable_.load(std::memory_order_acquire)) ways |= kReadsHost;
  return ways;
}

bool PeerMemory::offers(const std::byte* data, std::size_t bytes, std::uint32_t ways) {
  if ((ways & kReadsArena) != 0 && memory_ != nullptr && memory_->is_device_address(data) &&
      memory_->is_device_address(data + bytes - 1)) {
    // Where that fails, the bytes pass through the ring.
    return share_new().has_value();
  }
  return (ways & kReadsHost) != 0;
}

Status PeerMemory::read(std::uint64_t address, std::span<std::byte> target) {
  Status status = ok();
  if (maps_arenas_) {
    const Result<std::byte*> source = translate(address, target.size());
    if (source) {
      std::memcpy(target.data(), *source, target.size());
      return ok();
    }
    status = source.error();
  }
  if (!host_readable_.load(std::memory_order_acquire)) return status;
  const std::size_t done = read_process(process(), address, target);
  if (done == target.size()) return ok();
  if (errno == ESRCH) return with_rank(Error::make(Code::kPeerLost, describe_end(-1, process())));
  return with_rank(Error::make(
      Code::kPeerAddress,
      fmt::format("reading {} bytes at its address {:#x}: {} after {} bytes", target.size(),
                  address, std::error_code(errno, std::generic_category()).message(), done)));
}

}  // namespace commrig::transport
