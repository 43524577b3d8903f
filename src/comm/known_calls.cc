// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/known_calls.h"

#include <bit>
#include <utility>

namespace commrig::comm {
namespace {

bool same(const Call& a, const Call& b) {
  return a.input == b.input && a.output == b.output && a.count == b.count &&
         a.collective == b.collective && a.dtype == b.dtype && a.op == b.op && a.root == b.root;
}

}  // namespace

// Buffers of one program lie a power of two apart as often as not, so all bits have a say.
std::size_t KnownCalls::place_of(const Call& call) {
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(call.input) ^
                            std::rotl(reinterpret_cast<std::uintptr_t>(call.output), 24) ^
                            std::rotl(std::uint64_t{call.count}, 48) ^
                            static_cast<std::uint64_t>(call.root) << 8U ^
                            static_cast<std::uint64_t>(call.collective);
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio
  return key * kGolden >> (64U - static_cast<unsigned>(std::countr_zero(kEntries)));
}

const KnownCall* KnownCalls::find(const Call& call) const {
  if (entries_.empty() || generation_ != memory_.generation() || !call.counts.empty()) {
    return nullptr;
  }
  const KnownCall& known = entries_[place_of(call)];
  return known.plan != nullptr && same(known.call, call) ? &known : nullptr;
}

void KnownCalls::remember(const Call& call, std::shared_ptr<const KnownPlan> plan,
                          std::uint64_t generation) {
  if (!call.counts.empty()) return;
  if (entries_.empty() || generation != generation_) entries_.assign(kEntries, {});
  generation_ = generation;
  entries_[place_of(call)] = {call, std::move(plan), fingerprint(call)};
}

}  // namespace commrig::comm
