// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace commrig {

// An IPv4 or IPv6 address with a port, or nothing. A value.
class Address {
 public:
  // Room for the larger of the system's two forms; IPv4 leaves the rest zero.
  static constexpr std::size_t kWireBytes = 28;
  using Wire = std::array<std::byte, kWireBytes>;

  Address() = default;
  // From what the system calls gave; another family than IPv4 and IPv6 gives nothing.
  static Address from(const sockaddr* address);
  // "192.0.2.1:80", "[2001:db8::1]:80" or "[fe80::1%eth0]:80", port 0 included.
  static Result<Address> parse(std::string_view text);
  static Address loopback(int family, std::uint16_t port = 0);
  // The system's own bytes, as peers of the same byte order send them. Fails with kBadAddress where
  // they are none, or where bytes that must be zero are not.
  static Result<Address> from_wire(std::span<const std::byte, kWireBytes> wire);
  const Wire& wire() const { return bytes_; }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes_.data()); }
  socklen_t size() const;
  int family() const;  // AF_UNSPEC for nothing
  bool has_value() const { return family() != AF_UNSPEC; }
  std::uint16_t port() const;
  Address with_port(std::uint16_t port) const;
  bool is_loopback() const;
  bool is_link_local() const;
  bool is_any() const;

  // As parse() reads it; the interface of a link-local address as a number.
  std::string to_string() const;
  std::string host() const;  // without brackets and port

  bool operator==(const Address&) const = default;

 private:
  alignas(sockaddr_in6) Wire bytes_{};
};

// The first address that the system knows for a name or a numeric address. Blocks as long as the
// system's resolver does.
Result<Address> resolve(const std::string& host, std::uint16_t port, int family = AF_UNSPEC);

}  // namespace commrig
