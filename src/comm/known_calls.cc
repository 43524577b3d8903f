// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/known_calls.h"

#include <bit>
#include <utility>

namespace commrig::comm {
namespace {

// Heaps give smaller pieces back to the system hardly ever, and a look takes longer than a small
// call.
constexpr std::size_t kGivenBackBytes = std::size_t{64} << 10U;

constexpr std::size_t kManyPages = std::size_t{2} << 20U;

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

const KnownCall* KnownCalls::find(const Call& call) {
  if (entries_.empty() || generation_ != memory_.generation() || !call.counts.empty()) {
    return nullptr;
  }
  KnownCall& known = entries_[place_of(call)];
  if (known.plan == nullptr || !same(known.call, call)) return nullptr;
  if (known.calls_until_huge_pages > 0 && --known.calls_until_huge_pages == 0) {
    take_huge_pages(known);
  }
  return &known;
}

void KnownCalls::take_huge_pages(const KnownCall& known) const {
  const auto take = [&](const void* buffer, std::size_t bytes) {
    if (bytes == 0) return;
    // A buffer that is gone meanwhile is found by whoever uses it.
    const Result<device::Window> window = memory_.resolve(buffer, bytes);
    if (window) device::Memory::prefault(*window);
  };
  take(known.call.input, known.large_input_bytes);
  take(known.call.output, known.large_output_bytes);
}

void KnownCalls::remember(const Call& call, std::shared_ptr<const KnownPlan> plan,
                          std::uint64_t generation) {
  if (!call.counts.empty()) return;
  if (entries_.empty() || generation != generation_) entries_.assign(kEntries, {});
  generation_ = generation;
  KnownCall& known = entries_[place_of(call)];
  known = {.call = call, .plan = std::move(plan), .fingerprint = fingerprint(call)};
  const auto note = [&](const void* buffer, std::size_t count, std::size_t& host_bytes,
                        std::size_t& device_bytes) {
    const std::size_t bytes = count * dtype::size_of(call.dtype);
    const bool in_device = memory_.is_device_address(buffer);
    if (!in_device && bytes >= kGivenBackBytes) host_bytes = bytes;
    if (in_device && bytes >= kManyPages) device_bytes = bytes;
  };
  note(call.input, known.plan->input_count, known.host_input_bytes, known.large_input_bytes);
  note(call.output, known.plan->output_count, known.host_output_bytes, known.large_output_bytes);
}

}  // namespace commrig::comm
