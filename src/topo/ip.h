// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace commrig::topo {

// An address as its bytes: 4 of an IPv4, 16 of an IPv6. A zone ("%eth0") is allowed behind an IPv6
// and not kept.
struct Ip {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const Ip&) const = default;
};
std::optional<Ip> parse_ip(std::string_view text);
bool is_loopback(const Ip& ip);

// "-.-.-.-", "-1", "-2", "N/A", and addresses with xx or * in them: a producer did not know the
// value, or a document hid it.
bool is_placeholder(std::string_view text);

}  // namespace commrig::topo
