// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/host_memory.h"
#include "comm/call.h"
#include "comm/plan_run.h"
#include "device/memory.h"

namespace commrig::comm {

// A call that was found right, and how it is done.
struct KnownCall {
  Call call;
  std::shared_ptr<const KnownPlan> plan;  // shared with the calls that are under way
  std::uint32_t fingerprint = 0;
  std::size_t host_input_bytes = 0;  // 0 for device memory and small buffers
  std::size_t host_output_bytes = 0;
  // Of large buffers in device memory, and how many calls more until they get huge pages. That
  // takes as long as some ten calls, and each later one a tenth less.
  std::size_t large_input_bytes = 0;
  std::size_t large_output_bytes = 0;
  int calls_until_huge_pages = 64;

  // Nobody tells when host memory goes, so large buffers are looked at each time.
  bool host_buffers_are_there() const {
    return check_host_memory(call.input, host_input_bytes, HostAccess::kRead).has_value() &&
           check_host_memory(call.output, host_output_bytes, HostAccess::kWrite).has_value();
  }
};

// Most calls come again and again with the same arguments: the last ones of a rank, without those
// of the V forms. They are known for as long as the device memory stays as it is, since a buffer
// may be freed. Not thread-safe. The memory must outlive it.
class KnownCalls {
 public:
  explicit KnownCalls(const device::Memory& memory) : memory_(memory) {}

  const device::Memory& memory() const { return memory_; }

  // Valid until remember(); null for a call that must be checked. Its site may be another one.
  // Large buffers of device memory that are used often get huge pages where the kernel has them.
  const KnownCall* find(const Call& call);

  // The call was right, as long as the memory's generation is the one that was read before it was
  // looked at.
  void remember(const Call& call, std::shared_ptr<const KnownPlan> plan, std::uint64_t generation);

 private:
  static constexpr std::size_t kEntries = 32;
  static std::size_t place_of(const Call& call);
  void take_huge_pages(const KnownCall& known) const;

  const device::Memory& memory_;
  std::uint64_t generation_ = 0;
  std::vector<KnownCall> entries_;  // one place for each call; empty until the first
};

}  // namespace commrig::comm
