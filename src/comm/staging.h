// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>

#include "comm/call.h"
#include "device/machine.h"

namespace commrig::comm {

// Device memory of one rank in which its operations stage host buffers, one operation at a time. It
// is kept from one to the next, since pages that were never touched cost many times the copy, and
// is as large as the largest buffers so far, at most twice. Used by the thread that advances the
// operation whose turn it is.
class StagingArea {
 public:
  // The machine must outlive it.
  explicit StagingArea(device::Machine& machine) : machine_(machine) {}
  ~StagingArea();
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  // The area's memory, of at least so many bytes and undefined contents; valid until the next call.
  // Fails as Memory::allocate, and has no memory then.
  Result<std::byte*> at_least(std::size_t bytes);

 private:
  void release();

  device::Machine& machine_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// The place of one call's host buffers in an area, for ranks of other processes, which can't reach
// the buffers themselves. A plain value; the area's memory must not change as long as it is used.
class Staging {
 public:
  // Fails as StagingArea::at_least.
  static Result<Staging> create(StagingArea& area, const Call& call, std::size_t input_bytes,
                                std::size_t output_bytes);

  // Copies the input in, and lets the call use the staged buffers.
  void begin(Call& call) const;
  // Copies the output back.
  void end() const;

 private:
  Staging() = default;

  std::byte* memory_ = nullptr;
  std::size_t input_at_ = 0;
  std::size_t output_at_ = 0;
  const void* input_ = nullptr;
  void* output_ = nullptr;
  std::size_t input_bytes_ = 0;
  std::size_t output_bytes_ = 0;
};

}  // namespace commrig::comm
