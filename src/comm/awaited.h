// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>

namespace commrig::comm {

// What the operation whose turn it is waits for, so that others can follow who waits for whom: in
// one word, which has another value whenever the rank has come further.
//
//   63..48  version      47..46  kind      45..32  peer      31..0  number
struct Awaited {
  enum class Kind : std::uint8_t { kNothing, kReceive, kSend, kCollective };
  static constexpr int kPeersMax = 1 << 14;

  Kind kind = Kind::kNothing;
  int peer = 0;
  // Of the message, between the two ranks in that direction, from 1; or of the collective that the
  // peer has to begin. Modulo 2^32.
  std::uint32_t number = 0;

  static Awaited from(std::uint64_t word) {
    return {.kind = static_cast<Kind>(word >> 46U & 3U),
            .peer = static_cast<int>(word >> 32U & (kPeersMax - 1)),
            .number = static_cast<std::uint32_t>(word)};
  }
  std::uint64_t word(std::uint16_t version) const {
    return std::uint64_t{version} << 48U | static_cast<std::uint64_t>(kind) << 46U |
           static_cast<std::uint64_t>(peer) << 32U | number;
  }
  bool operator==(const Awaited&) const = default;
};

}  // namespace commrig::comm
