// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/kinds.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace commrig::transport {
namespace {

constexpr std::array kKinds{
    LinkKind{"self", Nearness::kSameRank, "a rank and itself", "a ring, two copies",
             "one copy by the receiver"},
    LinkKind{"thread", Nearness::kSameProcess, "ranks of one process", "a ring, two copies",
             "one copy by the receiver"},
    LinkKind{"shm", Nearness::kSameHost, "processes of one host",
             "a ring in shared memory, two copies",
             "one copy by the receiver, from mapped device memory or by process_vm_readv; else "
             "through the ring in pieces"},
    LinkKind{"tcp", Nearness::kAnywhere, "processes that share no memory", "a stream socket",
             "a stream socket"},
};

}  // namespace

std::span<const LinkKind> all_link_kinds() {
  return kKinds;
}

const LinkKind* find_link_kind(std::string_view name) {
  const auto* const row = std::ranges::find(kKinds, name, &LinkKind::name);
  return row == kKinds.end() ? nullptr : row;
}

const LinkKind& choose_link_kind(Nearness nearness) {
  const auto* const row = std::ranges::find_if(
      kKinds, [nearness](const LinkKind& kind) { return kind.needs >= nearness; });
  COMMRIG_CHECK(row != kKinds.end(), "no kind of link joins any two ranks");
  return *row;
}

}  // namespace commrig::transport
