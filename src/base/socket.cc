// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/socket.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace commrig {
namespace {

constexpr int kBacklog = 16384;  // The kernel cuts it to net.core.somaxconn.
constexpr Nanos kPauseStep = std::chrono::milliseconds(100);
constexpr int kPauseSteps = 34;

std::string text_of(int number) {
  return std::error_code(number, std::generic_category()).message();
}

Error failed(Code code, std::string_view what, const std::string& peer, int number) {
  return Error::make(code, fmt::format("{} {}: {}", what, peer, text_of(number)));
}

bool would_wait(int number) {
  return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

void send_small_messages_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Error connect_error(const std::string& peer, int number) {
  const bool our_side = number == EINVAL || number == EAFNOSUPPORT || number == EACCES ||
                        number == EMFILE || number == ENFILE || number == EADDRNOTAVAIL;
  return failed(our_side ? Code::kSystemCall : Code::kConnection, "connecting to", peer, number);
}

// Begins to connect; 0 or the error number.
int begin(const Address& address, Socket& socket) {
  Descriptor descriptor(
      ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!descriptor) return errno;
  send_small_messages_at_once(descriptor.get());
  if (::connect(descriptor.get(), address.get(), address.size()) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return errno;
  }
  socket = Socket(std::move(descriptor), address.to_string());
  return 0;
}

int pending_error(int descriptor) {
  int number = 0;
  socklen_t size = sizeof(number);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) != 0) return errno;
  return number;
}

bool worth_another(int number, Refused refused) {
  // A listener that is about to end resets those who were not accepted.
  const bool nobody = number == ECONNREFUSED || number == ECONNRESET;
  return number == ETIMEDOUT || number == EHOSTUNREACH || number == ENETUNREACH ||
         number == EAGAIN || (nobody && refused == Refused::kTriesAgain);
}

// The name of a unix socket as the system has it; the first byte 0 marks the abstract namespace.
Result<socklen_t> fill(sockaddr_un& address, const std::string& name) {
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) {
    return Error::make(Code::kBadAddress,
                       fmt::format("unix socket name of {} bytes, {} at most: {}", name.size(),
                                   sizeof(address.sun_path) - 1, name));
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const std::size_t used = name.empty() ? 0 : name.size() + 1;
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + used);
}

}  // namespace

Status Waiting::until(int descriptor, short events, const char* what) const {
  pollfd watched{.fd = descriptor, .events = events, .revents = 0};
  return executor.poll(
      {.descriptors = {&watched, 1}, .what = what, .abort = abort, .deadline = deadline});
}

Result<Socket> Socket::begin_connect(const Address& address) {
  if (!address.has_value()) return Error::make(Code::kBadAddress, "connecting needs an address");
  Socket socket;
  if (const int number = begin(address, socket); number != 0) {
    return connect_error(address.to_string(), number);
  }
  return socket;
}

Status Socket::finish_connect() const {
  const int number = pending_error(descriptor_.get());
  if (number != 0) return connect_error(peer_, number);
  return ok();
}

Result<Moved> Socket::read_some(std::span<std::byte> bytes) const {
  if (bytes.empty()) return Moved{};
  const ssize_t count = ::recv(descriptor_.get(), bytes.data(), bytes.size(), 0);
  if (count > 0) return Moved{.bytes = static_cast<std::size_t>(count)};
  if (count == 0) return Moved{.ended = true};
  if (would_wait(errno)) return Moved{};
  return failed(Code::kConnection, "reading from", peer_, errno);
}

Result<Moved> Socket::write_some(std::span<const std::byte> bytes) const {
  const ssize_t count = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return Moved{.bytes = static_cast<std::size_t>(count)};
  if (would_wait(errno)) return Moved{};
  return failed(Code::kConnection, "writing to", peer_, errno);
}

Status Socket::read_all(std::span<std::byte> bytes, const char* what,
                        const Waiting& waiting) const {
  while (!bytes.empty()) {
    COMMRIG_ASSIGN(const Moved moved, read_some(bytes));
    if (moved.ended) {
      return Error::make(Code::kConnection,
                         fmt::format("{} has closed the connection, {} bytes of {} are missing",
                                     peer_, bytes.size(), what));
    }
    bytes = bytes.subspan(moved.bytes);
    if (moved.bytes == 0) COMMRIG_TRY(waiting.until(descriptor_.get(), POLLIN, what));
  }
  return ok();
}

Status Socket::write_all(std::span<const std::byte> bytes, const char* what,
                         const Waiting& waiting) const {
  while (!bytes.empty()) {
    COMMRIG_ASSIGN(const Moved moved, write_some(bytes));
    bytes = bytes.subspan(moved.bytes);
    if (moved.bytes == 0) COMMRIG_TRY(waiting.until(descriptor_.get(), POLLOUT, what));
  }
  return ok();
}

Result<Socket> connect(const Address& address, const Waiting& waiting, Refused refused) {
  if (!address.has_value()) return Error::make(Code::kBadAddress, "connecting needs an address");
  for (int tries = 1;; ++tries) {
    Socket socket;
    int number = begin(address, socket);
    if (number == 0) {
      const Status status = waiting.until(socket.descriptor(), POLLOUT, "a connection");
      if (!status && status.error().code == Code::kDeadline) {
        return Error::make(Code::kDeadline,
                           fmt::format("connecting to {}: no answer", socket.peer()));
      }
      COMMRIG_TRY(status);
      number = pending_error(socket.descriptor());
      if (number == 0) return socket;
    }
    const Error error = connect_error(address.to_string(), number);
    if (!worth_another(number, refused)) return error;
    // Nothing tells when somebody begins to listen, so this is the one wait for time to pass.
    const Nanos pause_end = waiting.executor.now() + kPauseStep * std::min(tries, kPauseSteps);
    const Status paused =
        waiting.executor.poll({.what = "the next attempt to connect",
                               .abort = waiting.abort,
                               .deadline = std::min(pause_end, waiting.deadline)});
    if (!paused && paused.error().code != Code::kDeadline) return paused.error();
    if (waiting.executor.now() >= waiting.deadline) {
      return Error::make(Code::kDeadline, fmt::format("{} (attempt {})", error.message, tries));
    }
  }
}

Result<Listener> Listener::open(const Address& address) {
  const std::string name = address.to_string();
  if (!address.has_value()) return Error::make(Code::kBadAddress, "listening needs an address");
  Listener listener;
  listener.descriptor_ = Descriptor(
      ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const int descriptor = listener.descriptor();
  if (descriptor < 0) return failed(Code::kSystemCall, "socket for", name, errno);
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::bind(descriptor, address.get(), address.size()) != 0 ||
      ::listen(descriptor, kBacklog) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return failed(Code::kSystemCall, "listening on", name, errno);
  }
  listener.address_ = Address::from(reinterpret_cast<const sockaddr*>(&bound));
  return listener;
}

Result<Listener> Listener::open_unix(const std::string& name) {
  sockaddr_un address{};
  COMMRIG_ASSIGN(socklen_t size, fill(address, name));
  Listener listener;
  listener.descriptor_ =
      Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int descriptor = listener.descriptor();
  if (descriptor < 0) return failed(Code::kSystemCall, "unix socket for", name, errno);
  auto* const bound = reinterpret_cast<sockaddr*>(&address);
  // Without a name, the system gives a free one of the abstract namespace.
  if (::bind(descriptor, bound, size) != 0 || ::listen(descriptor, kBacklog) != 0 ||
      ::getsockname(descriptor, bound, &(size = sizeof(address))) != 0) {
    return failed(Code::kSystemCall, "listening on unix name", name, errno);
  }
  listener.unix_name_.assign(address.sun_path + 1,
                             size - offsetof(sockaddr_un, sun_path) - std::size_t{1});
  return listener;
}

Result<std::optional<Socket>> Listener::try_accept() const {
  while (true) {
    sockaddr_storage from{};
    socklen_t size = sizeof(from);
    Descriptor taken(::accept4(descriptor_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (taken) {
      const Address address = Address::from(reinterpret_cast<const sockaddr*>(&from));
      if (!address.has_value())
        return std::optional(Socket(std::move(taken), "unix:" + unix_name_));
      send_small_messages_at_once(taken.get());
      return std::optional(Socket(std::move(taken), address.to_string()));
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::optional<Socket>();
    // A connection that failed before it was taken is nobody's concern.
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    const std::string name = address_.has_value() ? address_.to_string() : "unix:" + unix_name_;
    return failed(Code::kSystemCall, "accepting on", name, errno);
  }
}

Result<Socket> Listener::accept(const char* what, const Waiting& waiting) const {
  while (true) {
    COMMRIG_ASSIGN(std::optional<Socket> socket, try_accept());
    if (socket) return *std::move(socket);
    COMMRIG_TRY(waiting.until(descriptor_.get(), POLLIN, what));
  }
}

}  // namespace commrig
