// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace commrig::bootstrap {

// Bernstein's string hash, h = h * 33 + byte from 5381, by which the libraries of this dialect
// identify hosts, processes and ids.
inline std::uint64_t djb2(std::span<const std::byte> bytes, std::uint64_t hash = 5381) {
  for (const std::byte byte : bytes) hash = hash * 33 + std::to_integer<std::uint64_t>(byte);
  return hash;
}
inline std::uint64_t djb2(std::string_view text, std::uint64_t hash = 5381) {
  return djb2(std::as_bytes(std::span(text)), hash);
}

}  // namespace commrig::bootstrap
