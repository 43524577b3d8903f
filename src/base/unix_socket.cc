// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/check.h"

namespace commrig {
namespace {

Error failed(Code code, const char* what, const std::string& peer) {
  const std::string text = std::error_code(errno, std::generic_category()).message();
  return Error::make(code, fmt::format("{} {}: {}", what, peer, text));
}

// Room for the control message that carries descriptors.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> bytes{};
};

// The descriptors of every control message.
std::vector<Descriptor> take_descriptors(msghdr& message) {
  std::vector<Descriptor> taken;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(each) + i * sizeof(int), sizeof(int));
      taken.emplace_back(number);
    }
  }
  return taken;
}

}  // namespace

Result<Socket> connect_unix(const std::string& name, const Waiting& waiting) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof(address.sun_path)) {
    return Error::make(Code::kBadAddress,
                       fmt::format("unix socket name of {} bytes, 1 to {}: {}", name.size(),
                                   sizeof(address.sun_path) - 1, name));
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const std::string peer = "unix:" + name;
  while (true) {
    Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!descriptor) return failed(Code::kSystemCall, "socket for", peer);
    if (::connect(descriptor.get(), reinterpret_cast<sockaddr*>(&address), size) == 0) {
      return Socket(std::move(descriptor), peer);
    }
    // The listener's queue is full: the system has no way to wait for room but by time.
    if (errno != EAGAIN && errno != EINTR) {
      return failed(Code::kConnection, "connecting to", peer);
    }
    constexpr Nanos kPause = std::chrono::milliseconds(5);
    const Nanos pause_end = waiting.executor.now() + kPause;
    if (pause_end >= waiting.deadline) {
      return Error::make(Code::kDeadline, fmt::format("connecting to {}: its queue is full", peer));
    }
    const Status paused = waiting.executor.poll(
        {.what = "room to connect", .abort = waiting.abort, .deadline = pause_end});
    if (!paused && paused.error().code != Code::kDeadline) return paused.error();
  }
}

Result<std::pair<Socket, Socket>> unix_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return failed(Code::kSystemCall, "socketpair", "");
  }
  return std::pair(Socket(Descriptor(ends[0]), "unix:pair"),
                   Socket(Descriptor(ends[1]), "unix:pair"));
}

Status send_descriptors(const Socket& socket, std::span<const std::byte> bytes,
                        std::span<const int> descriptors, const Waiting& waiting) {
  COMMRIG_CHECK(!bytes.empty(), "descriptors travel with at least one byte");
  COMMRIG_CHECK(descriptors.size() <= kDescriptorsMax, fmt::to_string(descriptors.size()));
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    const ssize_t count = ::sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL);
    if (count >= 0) {
      return socket.write_all(bytes.subspan(static_cast<std::size_t>(count)),
                              "bytes beside descriptors", waiting);
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return failed(Code::kConnection, "sending descriptors to", socket.peer());
    }
    COMMRIG_TRY(waiting.until(socket.descriptor(), POLLOUT, "room for descriptors"));
  }
}

Result<std::vector<Descriptor>> recv_descriptors(const Socket& socket, std::span<std::byte> bytes,
                                                 std::size_t expected, const Waiting& waiting) {
  std::vector<Descriptor> all;
  while (!bytes.empty()) {
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    Control control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t count = ::recvmsg(socket.descriptor(), &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      COMMRIG_TRY(waiting.until(socket.descriptor(), POLLIN, "descriptors"));
      continue;
    }
    if (count < 0) return failed(Code::kConnection, "receiving descriptors from", socket.peer());
    for (Descriptor& each : take_descriptors(message)) all.push_back(std::move(each));
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return Error::make(Code::kSystemCall,
                         fmt::format("receiving descriptors from {}: the limit of open files was "
                                     "reached, or more than {} came at once",
                                     socket.peer(), kDescriptorsMax));
    }
    if (count == 0) {
      return Error::make(Code::kConnection,
                         fmt::format("{} has closed the connection, {} bytes beside descriptors "
                                     "are missing",
                                     socket.peer(), bytes.size()));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  if (all.size() != expected) {
    return Error::make(Code::kConnection, fmt::format("{} sent {} descriptors, expected {}",
                                                      socket.peer(), all.size(), expected));
  }
  return all;
}

Result<pid_t> peer_process(const Socket& socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return failed(Code::kSystemCall, "SO_PEERCRED of", socket.peer());
  }
  return credentials.pid;
}

}  // namespace commrig
