// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/ip.h"

#include <arpa/inet.h>

#include <algorithm>

namespace commrig::topo {

std::optional<Ip> parse_ip(std::string_view text) {
  Ip ip;
  ip.is_v6 = text.find(':') != std::string_view::npos;
  if (ip.is_v6) {
    const std::size_t zone = text.find('%');
    if (zone != std::string_view::npos && zone + 1 == text.size()) return {};
    text = text.substr(0, zone);
  }
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (text.size() >= buffer.size() || text.find('\0') != std::string_view::npos) return {};
  std::ranges::copy(text, buffer.begin());
  if (inet_pton(ip.is_v6 ? AF_INET6 : AF_INET, buffer.data(), ip.bytes.data()) != 1) return {};
  return ip;
}

bool is_loopback(const Ip& ip) {
  if (!ip.is_v6) return ip.bytes[0] == 127;
  return std::all_of(ip.bytes.begin(), ip.bytes.end() - 1, [](std::uint8_t b) { return b == 0; }) &&
         ip.bytes[15] == 1;
}

bool is_placeholder(std::string_view text) {
  constexpr std::array<std::string_view, 7> kWords{"-1", "-2", "N/A", "NA", "null", "None", "-"};
  if (std::ranges::count(kWords, text) != 0) return true;
  if (text.empty() || text.find_first_of(".:") == std::string_view::npos) return false;
  // Parts of an address that are no numbers.
  bool masked = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(".:", at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const bool mask = !part.empty() && part.find_first_not_of("xX*-?") == std::string_view::npos;
    const bool number = part.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (!mask && !number) return false;
    masked = masked || mask;
    at = end + 1;
  }
  return masked;
}

}  // namespace commrig::topo
