// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace commrig::comm {
namespace {

std::uintptr_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::byte* inside(void* memory, std::size_t offset) {
  return static_cast<std::byte*>(memory) + offset;
}

}  // namespace

// Buffers that are one in the caller's memory stay so. The copy lies at the same offset from a
// line, so that it is aligned as the caller's.
Result<Staging> Staging::create(device::Machine& machine, int device, const Call& call,
                                std::size_t input_bytes, std::size_t output_bytes) {
  Staging staging(machine);
  staging.input_ = call.input;
  staging.output_ = call.output;
  staging.input_bytes_ = input_bytes;
  staging.output_bytes_ = output_bytes;
  const std::uintptr_t input = number(call.input);
  const std::uintptr_t output = number(call.output);
  const bool one = input_bytes != 0 && output_bytes != 0 && input < output + output_bytes &&
                   output < input + input_bytes;
  if (one) {
    const std::uintptr_t start = std::min(input, output) / kLine * kLine;
    staging.input_at_ = input - start;
    staging.output_at_ = output - start;
  } else {
    staging.input_at_ = input % kLine;
    staging.output_at_ =
        (staging.input_at_ + input_bytes + kLine - 1) / kLine * kLine + output % kLine;
  }
  const std::size_t bytes =
      std::max(staging.input_at_ + input_bytes, staging.output_at_ + output_bytes);
  COMMRIG_ASSIGN(staging.memory_, machine.memory().allocate(device, bytes));
  return staging;
}

Staging::Staging(Staging&& other) noexcept
    : machine_(other.machine_),
      memory_(std::exchange(other.memory_, nullptr)),
      input_at_(other.input_at_),
      output_at_(other.output_at_),
      input_(other.input_),
      output_(other.output_),
      input_bytes_(other.input_bytes_),
      output_bytes_(other.output_bytes_) {}

Staging::~Staging() {
  if (memory_ == nullptr) return;
  const Status released = machine_->memory().release(memory_);
  COMMRIG_CHECK(released.has_value(), to_string(released.error()));
}

void Staging::begin(Call& call) const {
  call.input = inside(memory_, input_at_);
  call.output = inside(memory_, output_at_);
  if (input_bytes_ != 0) std::memcpy(inside(memory_, input_at_), input_, input_bytes_);
}

void Staging::end() const {
  if (output_bytes_ != 0) std::memcpy(output_, inside(memory_, output_at_), output_bytes_);
}

}  // namespace commrig::comm
