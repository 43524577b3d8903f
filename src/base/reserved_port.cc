// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace commrig {

Result<ReservedPort> ReservedPort::take() {
  Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  // Sockets that all say so share a port until one of them listens. The system picks such a port
  // for nobody who asks for a free one, or connects.
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* const bound = reinterpret_cast<sockaddr*>(&address);
  if (!descriptor ||
      ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(descriptor.get(), bound, size) != 0 ||
      ::getsockname(descriptor.get(), bound, &size) != 0) {
    return Error::make(
        Code::kSystemCall,
        "reserving a port: " + std::error_code(errno, std::generic_category()).message());
  }
  return ReservedPort(std::move(descriptor), ntohs(address.sin_port));
}

}  // namespace commrig
