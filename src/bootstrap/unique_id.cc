// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/unique_id.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "bootstrap/hash.h"

namespace commrig::bootstrap {
namespace {

constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kMagicDigits = 16;
constexpr std::size_t kUsedBytes = kMagicBytes + Address::kWireBytes;

Error bad_id(std::string_view what) {
  return Error::make(Code::kBadUniqueId, fmt::format("unique id: {}", what));
}

Result<UniqueId> checked(std::uint64_t magic, const Address& root) {
  if (root.port() == 0) return bad_id("the root's address " + root.to_string() + " has no port");
  if (root.is_any()) return bad_id("the root's address " + root.to_string() + " is no address");
  return UniqueId(magic, root);
}

}  // namespace

Result<UniqueId> UniqueId::from_bytes(std::span<const std::byte, kBytes> bytes) {
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  if (std::ranges::none_of(bytes, is_set)) return bad_id("all of its bytes are zero");
  const auto address = Address::from_wire(bytes.subspan<kMagicBytes, Address::kWireBytes>());
  if (!address) return bad_id(address.error().message);
  const auto stray = std::find_if(bytes.begin() + kUsedBytes, bytes.end(), is_set);
  if (stray != bytes.end()) {
    return bad_id(fmt::format("byte {} is {:#04x}; expected 0 from byte {} on",
                              stray - bytes.begin(), std::to_integer<unsigned>(*stray),
                              kUsedBytes));
  }
  std::uint64_t magic = 0;
  std::memcpy(&magic, bytes.data(), sizeof(magic));
  return checked(magic, *address);
}

Result<UniqueId> UniqueId::parse(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return bad_id(fmt::format("\"{}\" has no @ between number and address", text));
  }
  const std::string_view digits = text.substr(0, at);
  std::uint64_t magic = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magic, 16);
  if (digits.size() != kMagicDigits || failure != std::errc() ||
      end != digits.data() + digits.size()) {
    return bad_id(
        fmt::format("\"{}\" is no number of {} hexadecimal digits", digits, kMagicDigits));
  }
  const auto address = Address::parse(text.substr(at + 1));
  if (!address) return bad_id(address.error().message);
  return checked(magic, *address);
}

UniqueId::Bytes UniqueId::bytes() const {
  Bytes bytes{};
  std::memcpy(bytes.data(), &magic_, sizeof(magic_));
  std::ranges::copy(root_.wire(), bytes.begin() + kMagicBytes);
  return bytes;
}

std::string UniqueId::to_string() const {
  return fmt::format("{:016x}@{}", magic_, root_.to_string());
}

std::uint64_t UniqueId::hash() const {
  return djb2(bytes());
}

}  // namespace commrig::bootstrap
