// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/staging.h"

#include <algorithm>
#include <cstring>

namespace commrig::comm {
namespace {

std::uintptr_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

StagingArea::~StagingArea() {
  release();
}

void StagingArea::release() {
  if (memory_ == nullptr) return;
  const Status released = machine_.memory().release(memory_);
  COMMRIG_CHECK(released.has_value(), to_string(released.error()));
  memory_ = nullptr;
  bytes_ = 0;
}

// Grows by half at least, so that sizes which rise slowly are not all allocated.
Result<std::byte*> StagingArea::at_least(std::size_t bytes) {
  if (bytes > bytes_) {
    const std::size_t wanted = std::max(bytes, bytes_ + bytes_ / 2);
    release();
    COMMRIG_ASSIGN(memory_, machine_.memory().allocate(0, wanted));
    bytes_ = wanted;
  }
  return static_cast<std::byte*>(memory_);
}

// Buffers that are one in the caller's memory stay so. The copy lies at the same offset from a
// line, so that it is aligned as the caller's.
Result<Staging> Staging::create(StagingArea& area, const Call& call, std::size_t input_bytes,
                                std::size_t output_bytes) {
  Staging staging;
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
  COMMRIG_ASSIGN(staging.memory_, area.at_least(bytes));
  return staging;
}

void Staging::begin(Call& call) const {
  call.input = memory_ + input_at_;
  call.output = memory_ + output_at_;
  if (input_bytes_ != 0) std::memcpy(memory_ + input_at_, input_, input_bytes_);
}

void Staging::end() const {
  if (output_bytes_ != 0) std::memcpy(output_, memory_ + output_at_, output_bytes_);
}

}  // namespace commrig::comm
