// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/known_root.h"

#include <charconv>
#include <string>

#include <fmt/format.h>

namespace commrig::bootstrap {
namespace {

// Ids of known roots have it in place of a number drawn by chance, in the libraries as well.
constexpr std::uint64_t kMagic = 0x0280028002800280U;

Result<Address> find_address(std::string_view text) {
  if (Result<Address> numeric = Address::parse(text); numeric || text.starts_with('[')) {
    return numeric;
  }
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || failed != std::errc() || end != digits.data() + digits.size()) {
    return Error::make(Code::kBadAddress,
                       fmt::format("address \"{}\": no port from 1 to 65535 at its end", text));
  }
  return resolve(std::string(text.substr(0, colon)), port);
}

}  // namespace

Result<UniqueId> known_root(std::string_view text) {
  COMMRIG_ASSIGN(const Address address, find_address(text));
  if (address.port() != 0) return UniqueId(kMagic, address);
  return Error::make(Code::kBadAddress,
                     fmt::format("address \"{}\": port 0; others must know it", text));
}

bool is_known_root(const UniqueId& id) {
  return id.magic() == kMagic;
}

}  // namespace commrig::bootstrap
