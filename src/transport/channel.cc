// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace commrig::transport {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * 4);

Error lost(const char* call) {
  return Error::make(
      Code::kPeerLost,
      fmt::format("{}: {}", call, std::error_code(errno, std::generic_category()).message()));
}

void add_control(msghdr& header, cmsghdr*& at, int type, const void* data, std::size_t bytes) {
  at->cmsg_level = SOL_SOCKET;
  at->cmsg_type = type;
  at->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(at), data, bytes);
  header.msg_controllen += CMSG_SPACE(bytes);
  at = reinterpret_cast<cmsghdr*>(reinterpret_cast<std::byte*>(at) + CMSG_SPACE(bytes));
}

}  // namespace

Channel::Channel(Socket socket) : socket_(std::move(socket)) {
  // The system then tells with each note whose it is.
  const int on = 1;
  ::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
}

Result<bool> Channel::send(const Note& note, int descriptor) {
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  iovec part{const_cast<Note*>(&note), sizeof(note)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  auto* at = reinterpret_cast<cmsghdr*>(control.data());
  const ucred own{.pid = ::getpid(), .uid = ::getuid(), .gid = ::getgid()};
  add_control(header, at, SCM_CREDENTIALS, &own, sizeof(own));
  if (descriptor >= 0) add_control(header, at, SCM_RIGHTS, &descriptor, sizeof(descriptor));
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket_.descriptor(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS)) return false;
  if (sent < 0) return lost("sendmsg");
  // A unix socket takes so few bytes as a whole or not at all.
  COMMRIG_CHECK(sent == sizeof(note), fmt::format("{} bytes of a note were sent", sent));
  return true;
}

Result<bool> Channel::read_some() {
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  iovec part{bytes_ + filled_, sizeof(Note) - filled_};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t read = 0;
  do {
    read = ::recvmsg(socket_.descriptor(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (read < 0 && errno == EINTR);
  if (read < 0 && errno == EAGAIN) return false;
  if (read < 0) return lost("recvmsg");
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS) {
      ucred peer{};
      std::memcpy(&peer, CMSG_DATA(at), sizeof(peer));
      sender_ = peer.pid;
    }
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(at) + i * sizeof(int), sizeof(number));
      descriptor_ = Descriptor(number);
    }
  }
  if (read == 0) return Error::make(Code::kPeerLost, "it has closed its connection");
  filled_ += static_cast<std::size_t>(read);
  return true;
}

Result<std::optional<Received>> Channel::receive() {
  while (filled_ < sizeof(Note)) {
    COMMRIG_ASSIGN(const bool more, read_some());
    if (!more) return std::optional<Received>();
  }
  Received received{.descriptor = std::move(descriptor_), .sender = sender_};
  std::memcpy(&received.note, bytes_, sizeof(Note));
  filled_ = 0;
  sender_ = 0;
  const Note& note = received.note;
  if (note.magic != Note::kMagic) {
    return Error::make(Code::kBadFrame, fmt::format("a note with magic {:#x}, expected {:#x}",
                                                    note.magic, Note::kMagic));
  }
  const bool needs_descriptor = note.kind == Note::kSegment || note.kind == Note::kGift;
  if (needs_descriptor && !received.descriptor) {
    return Error::make(Code::kBadFrame,
                       fmt::format("a note of kind {} came without its descriptor: the limit of "
                                   "open files (ulimit -n) may be reached",
                                   static_cast<int>(note.kind)));
  }
  return std::optional<Received>(std::move(received));
}

}  // namespace commrig::transport
