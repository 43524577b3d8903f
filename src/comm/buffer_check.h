// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "comm/call.h"
#include "device/memory.h"

namespace commrig::comm {

// Looks at the buffers of one rank's calls before anything is done with them. Ranges that were good
// are remembered for as long as the device memory stays as it is, since most calls come again and
// again with the same ones. Not thread-safe. The memory must outlive it.
class BufferCheck {
 public:
  explicit BufferCheck(const device::Memory& memory) : memory_(memory) {}

  // `count` elements of the call's type at `buffer`, in device or host memory; `which` names it in
  // errors. No buffer is needed for 0 elements. Fails with kCollectiveBuffer for a null one,
  // kMisaligned, and the errors of device memory.
  Status check(const Call& call, const void* buffer, std::size_t count, const char* which);

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  bool is_known(const Range& range) const;
  void remember(const Range& range, std::uint64_t generation);

  const device::Memory& memory_;
  std::array<Range, 4> known_{};
  std::uint64_t generation_ = 0;  // of the memory, when the known ranges were looked at
  std::size_t next_ = 0;
};

}  // namespace commrig::comm
