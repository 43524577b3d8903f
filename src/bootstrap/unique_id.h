// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/result.h"

namespace commrig::bootstrap {

// What the ranks of a communicator know of each other before they are connected: a number by which
// they recognise each other, and where their root listens. As bytes it has the layout of the
// libraries 2.16 to 2.28: the number in 8 bytes, the address as the system has it in 28, zeros.
class UniqueId {
 public:
  static constexpr std::size_t kBytes = 128;
  using Bytes = std::array<std::byte, kBytes>;

  UniqueId(std::uint64_t magic, const Address& root) : magic_(magic), root_(root) {}

  // Fails with kBadUniqueId on bytes that no root has made.
  static Result<UniqueId> from_bytes(std::span<const std::byte, kBytes> bytes);
  // As to_string() writes it, for environments and command lines.
  static Result<UniqueId> parse(std::string_view text);

  Bytes bytes() const;
  std::string to_string() const;  // "0123456789abcdef@192.0.2.1:4711"
  std::uint64_t hash() const;     // of the bytes; what logs print
  std::uint64_t magic() const { return magic_; }
  const Address& root() const { return root_; }

  bool operator==(const UniqueId&) const = default;

 private:
  std::uint64_t magic_;
  Address root_;
};

}  // namespace commrig::bootstrap
