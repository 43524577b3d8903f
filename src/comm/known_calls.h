// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/call.h"
#include "comm/plan_run.h"
#include "device/memory.h"

namespace commrig::comm {

// A call that was found right, and how it is done.
struct KnownCall {
  Call call;
  std::shared_ptr<const KnownPlan> plan;  // shared with the calls that are under way
  std::uint32_t fingerprint = 0;
};

// Most calls come again and again with the same arguments: the last ones of a rank, without those
// of the V forms. They are known for as long as the device memory stays as it is, since a buffer
// may be freed. Not thread-safe. The memory must outlive it.
class KnownCalls {
 public:
  explicit KnownCalls(const device::Memory& memory) : memory_(memory) {}

  const device::Memory& memory() const { return memory_; }

  // Valid until remember(); null for a call that must be checked. Its site may be another one.
  const KnownCall* find(const Call& call) const;

  // The call was right, as long as the memory's generation is the one that was read before it was
  // looked at.
  void remember(const Call& call, std::shared_ptr<const KnownPlan> plan, std::uint64_t generation);

 private:
  static constexpr std::size_t kEntries = 32;
  static std::size_t place_of(const Call& call);

  const device::Memory& memory_;
  std::uint64_t generation_ = 0;
  std::vector<KnownCall> entries_;  // one place for each call; empty until the first
};

}  // namespace commrig::comm
