// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

namespace commrig::topo {

// What a super_device_id (SDID) says: server in the super pod in bits 22 to 31, chip in 18 to 21,
// die in 16 and 17, device on the server in 0 to 15. On a server of 16 devices, device = 2 x chip +
// die.
struct SuperDevice {
  int server = 0;
  int chip = 0;
  int die = 0;
  int device = 0;
  bool operator==(const SuperDevice&) const = default;
};

constexpr SuperDevice decode_super_device(std::uint32_t number) {
  return {static_cast<int>(number >> 22U), static_cast<int>((number >> 18U) & 15U),
          static_cast<int>((number >> 16U) & 3U), static_cast<int>(number & 0xffffU)};
}

// Of device 0 to 15 of server 0 to 1023.
constexpr std::uint32_t encode_super_device(int server, int device) {
  const auto d = static_cast<std::uint32_t>(device);
  return (static_cast<std::uint32_t>(server) << 22U) | ((d / 2) << 18U) | ((d % 2) << 16U) | d;
}

// Numbers without server, chip and die, as documents print them.
constexpr bool is_small_super_device(std::uint32_t number) {
  return number < 0x10000U;
}

}  // namespace commrig::topo
