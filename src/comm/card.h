// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/exchange.h"
#include "bootstrap/identity.h"

namespace commrig::comm {

// What ranks tell each other when they join a communicator, in two rounds: who they are, then where
// those listen that others have to connect to.
struct IdentityCard {
  std::uint64_t host = 0;
  std::uint64_t process = 0;
  std::uint64_t shared_memory = 0;
  std::uint64_t number = 0;  // rank 0's names the communicator
  std::int32_t device = -1;  // see DevicePlace
  std::int32_t device_is_own = 0;

  bool same_process(const IdentityCard& other) const {
    return host == other.host && process == other.process;
  }
  bool shares_memory(const IdentityCard& other) const {
    return host == other.host && shared_memory == other.shared_memory;
  }
  bool same_device(const IdentityCard& other) const {
    const bool apart = device_is_own != 0 || other.device_is_own != 0;
    return device >= 0 && device == other.device &&
           (apart ? same_process(other) : host == other.host);
  }
};

struct AddressCard {
  std::array<char, 112> unix_name{};  // of a process's listener, by its first rank
  std::array<char, 80> tcp{};         // of a rank's listener, where one is needed
};

// Text into one of the fields, whose end is 0.
template <std::size_t N>
void put(std::array<char, N>& field, std::string_view text) {
  COMMRIG_CHECK(text.size() < N, "an address longer than its field");
  text.copy(field.data(), text.size());
}
template <std::size_t N>
std::string get(const std::array<char, N>& field) {
  return std::string(field.data(), std::string_view(field.data(), N).find('\0') % (N + 1));
}

template <class Card>
Result<std::vector<Card>> exchange_cards(bootstrap::Exchange& exchange, const Card& mine) {
  std::vector<Card> cards(static_cast<std::size_t>(exchange.ranks()));
  cards[static_cast<std::size_t>(exchange.rank())] = mine;
  COMMRIG_TRY(exchange.all_gather(std::as_writable_bytes(std::span(cards)), sizeof(Card)));
  return cards;
}

}  // namespace commrig::comm
