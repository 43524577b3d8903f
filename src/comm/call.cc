// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/call.h"

#include <fmt/format.h>

namespace commrig::comm {
namespace {

// SplitMix64's finalizer (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
  return value ^ value >> 31U;
}

// The op matters only where elements are combined, the root only where there is one.
std::uint32_t what_of(const Call& call) {
  const auto op = coll::has_arithmetic(call.collective) ? static_cast<std::uint32_t>(call.op) : 0U;
  return static_cast<std::uint32_t>(call.collective) << 16U |
         static_cast<std::uint32_t>(call.dtype) << 8U | op;
}

int root_of(const Call& call) {
  return coll::has_root(call.collective) ? call.root : 0;
}

}  // namespace

std::uint32_t fingerprint(const Call& call) {
  std::uint64_t hash = mix(what_of(call) + 1);
  hash = mix(hash ^ static_cast<std::uint64_t>(root_of(call)));
  hash = mix(hash ^ call.count);
  for (const std::size_t count : call.counts) hash = mix(hash ^ count);
  return static_cast<std::uint32_t>(hash >> 40U);
}

void post(const Call& call, std::uint64_t number, CallLine& line) {
  constexpr auto kRelaxed = std::memory_order_relaxed;  // The flag that is stored later releases.
  line.number.store(number, kRelaxed);
  line.what.store(what_of(call), kRelaxed);
  line.root.store(root_of(call), kRelaxed);
  line.count.store(call.count, kRelaxed);
  line.input.store(reinterpret_cast<std::uintptr_t>(call.input), kRelaxed);
  line.output.store(reinterpret_cast<std::uintptr_t>(call.output), kRelaxed);
  line.site.store(reinterpret_cast<std::uintptr_t>(call.site), kRelaxed);
}

std::string describe(const CallLine& line) {
  const std::uint32_t what = line.what.load(std::memory_order_relaxed);
  const auto collective = static_cast<coll::Collective>(what >> 16U);
  const auto type = static_cast<dtype::Dtype>(what >> 8U & 0xFFU);
  std::string text(coll::name(collective));
  if (!coll::has_counts(collective)) {
    text += fmt::format(" of {}", line.count.load(std::memory_order_relaxed));
  }
  text += fmt::format(" {}", dtype::info(type).name);
  if (coll::has_arithmetic(collective)) {
    text += fmt::format(", {}", dtype::name(static_cast<dtype::ReduceOp>(what & 0xFFU)));
  }
  if (coll::has_root(collective)) {
    text += fmt::format(", root {}", line.root.load(std::memory_order_relaxed));
  }
  return text;
}

}  // namespace commrig::comm
