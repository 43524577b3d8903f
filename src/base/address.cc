// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace commrig {
namespace {

static_assert(sizeof(sockaddr_in6) == Address::kWireBytes);

Error bad_address(std::string_view text, std::string_view why) {
  return Error::make(Code::kBadAddress, fmt::format("address \"{}\": {}", text, why));
}

sockaddr_in as_v4(const Address& address) {
  sockaddr_in v4{};
  std::memcpy(&v4, address.wire().data(), sizeof(v4));
  return v4;
}

sockaddr_in6 as_v6(const Address& address) {
  sockaddr_in6 v6{};
  std::memcpy(&v6, address.wire().data(), sizeof(v6));
  return v6;
}

template <class Form>
Address from_form(const Form& form) {
  sockaddr_storage storage{};  // As large as every form, which the compiler wants to see.
  std::memcpy(&storage, &form, sizeof(form));
  return Address::from(reinterpret_cast<const sockaddr*>(&storage));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "fe80::1" or "fe80::1%eth0", without brackets.
Result<Address> parse_v6(std::string_view text, std::string_view host, std::uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const std::size_t percent = host.find('%');
  if (percent != std::string_view::npos) {
    const std::string zone(host.substr(percent + 1));
    v6.sin6_scope_id = number_in<std::uint32_t>(zone).value_or(::if_nametoindex(zone.c_str()));
    if (v6.sin6_scope_id == 0) return bad_address(text, "no such interface here: " + zone);
  }
  if (::inet_pton(AF_INET6, std::string(host.substr(0, percent)).c_str(), &v6.sin6_addr) != 1) {
    return bad_address(text, "what stands in brackets is no IPv6 address");
  }
  return from_form(v6);
}

}  // namespace

Address Address::from(const sockaddr* address) {
  Address result;
  if (address == nullptr) return result;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof(v4));
    std::memset(v4.sin_zero, 0, sizeof(v4.sin_zero));
    std::memcpy(result.bytes_.data(), &v4, sizeof(v4));
  } else if (address->sa_family == AF_INET6) {
    std::memcpy(result.bytes_.data(), address, sizeof(sockaddr_in6));
  }
  return result;
}

Result<Address> Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "it has no port");
  const auto port = number_in<std::uint16_t>(text.substr(colon + 1));
  if (!port) return bad_address(text, "the port is no number up to 65535");
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return bad_address(text, "the bracket is not closed before the port");
    return parse_v6(text, host.substr(1, host.size() - 2), *port);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(*port);
  if (::inet_pton(AF_INET, std::string(host).c_str(), &v4.sin_addr) != 1) {
    return bad_address(text, host.find(':') != std::string_view::npos
                                 ? "an IPv6 address stands in brackets"
                                 : "the host is no IPv4 address");
  }
  return from_form(v4);
}

Address Address::loopback(int family, std::uint16_t port) {
  if (family == AF_INET6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr.s6_addr[15] = 1;
    return from_form(v6);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return from_form(v4);
}

Result<Address> Address::from_wire(std::span<const std::byte, kWireBytes> wire) {
  sa_family_t family = 0;
  std::memcpy(&family, wire.data(), sizeof(family));
  if (family != AF_INET && family != AF_INET6) {
    return Error::make(Code::kBadAddress,
                       fmt::format("address in a message: family {}, expected {} (IPv4) or {} "
                                   "(IPv6)",
                                   family, AF_INET, AF_INET6));
  }
  Address result;
  std::ranges::copy(wire, result.bytes_.begin());
  // What the text has no room for: IPv4's filling and what follows it, IPv6's flow label.
  const auto rest = family == AF_INET
                        ? std::span(result.bytes_).subspan(offsetof(sockaddr_in, sin_zero))
                        : std::span(result.bytes_)
                              .subspan(offsetof(sockaddr_in6, sin6_flowinfo),
                                       sizeof(sockaddr_in6::sin6_flowinfo));
  if (std::ranges::any_of(rest, [](std::byte byte) { return byte != std::byte{0}; })) {
    return Error::make(Code::kBadAddress, fmt::format("address in a message: bytes of {} that must "
                                                      "be 0 are not",
                                                      result.to_string()));
  }
  return from(result.get());
}

socklen_t Address::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

int Address::family() const {
  sa_family_t family = 0;
  std::memcpy(&family, bytes_.data(), sizeof(family));
  return family;
}

std::uint16_t Address::port() const {
  std::uint16_t port = 0;  // Both forms have it at the same place.
  std::memcpy(&port, bytes_.data() + offsetof(sockaddr_in, sin_port), sizeof(port));
  return ntohs(port);
}

Address Address::with_port(std::uint16_t port) const {
  Address result = *this;
  const std::uint16_t network = htons(port);
  std::memcpy(result.bytes_.data() + offsetof(sockaddr_in, sin_port), &network, sizeof(network));
  return result;
}

bool Address::is_loopback() const {
  if (family() == AF_INET6) {
    const sockaddr_in6 v6 = as_v6(*this);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  return family() == AF_INET && ntohl(as_v4(*this).sin_addr.s_addr) >> 24U == 127;
}

bool Address::is_link_local() const {
  if (family() == AF_INET6) {
    const sockaddr_in6 v6 = as_v6(*this);
    return IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr);
  }
  return family() == AF_INET && ntohl(as_v4(*this).sin_addr.s_addr) >> 16U == 0xA9FE;
}

bool Address::is_any() const {
  if (family() == AF_INET6) {
    const sockaddr_in6 v6 = as_v6(*this);
    return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
  }
  return family() == AF_INET && as_v4(*this).sin_addr.s_addr == 0;
}

std::string Address::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family() == AF_INET) {
    const sockaddr_in v4 = as_v4(*this);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return text.data();
  }
  if (family() != AF_INET6) return "nowhere";
  const sockaddr_in6 v6 = as_v6(*this);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  if (v6.sin6_scope_id == 0) return text.data();
  return fmt::format("{}%{}", text.data(), v6.sin6_scope_id);
}

std::string Address::to_string() const {
  if (!has_value()) return host();
  if (family() == AF_INET6) return fmt::format("[{}]:{}", host(), port());
  return fmt::format("{}:{}", host(), port());
}

Result<Address> resolve(const std::string& host, std::uint16_t port, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failure != 0) {
    return Error::make(Code::kBadAddress,
                       fmt::format("host \"{}\": {}", host, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const Address address = Address::from(each->ai_addr);
    if (address.has_value()) return address.with_port(port);
  }
  return Error::make(Code::kBadAddress, fmt::format("host \"{}\" has no IP address", host));
}

}  // namespace commrig
