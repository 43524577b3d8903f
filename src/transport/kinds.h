// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace commrig::transport {

// How near two ranks must be to each other for a kind of link.
enum class Nearness : std::uint8_t {
  kSameRank,
  kSameProcess,
  kSameHost,  // and may share memory
  kAnywhere,
};

// One kind of link, as it is chosen, printed and documented.
struct LinkKind {
  std::string_view name;  // Link::kind()
  Nearness needs;
  std::string_view joins;  // which ranks, in words
  std::string_view small;  // how messages of up to 4 KiB pass
  std::string_view large;  // how larger ones do
};

// All kinds, the nearest first: the first one that two ranks are near enough for is theirs.
std::span<const LinkKind> all_link_kinds();
const LinkKind* find_link_kind(std::string_view name);
const LinkKind& choose_link_kind(Nearness nearness);

}  // namespace commrig::transport
