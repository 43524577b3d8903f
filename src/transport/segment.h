// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <span>

#include "base/descriptor.h"
#include "base/result.h"

namespace commrig::transport {

// A piece of memory that processes of one host share. It has no name anywhere: others map it by a
// descriptor that was passed to them, and it ends with the last process that has it. Movable; the
// memory is unmapped by the destructor.
class Segment {
 public:
  Segment() = default;
  ~Segment();
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Zeroed memory of its own. `name` is for people who look at /proc; static text.
  static Result<Segment> create(const char* name, std::size_t bytes);
  // The first `bytes` of what somebody else has made. Fails with kPeerAddress when it is smaller:
  // an access would end the process.
  static Result<Segment> map(Descriptor descriptor, std::size_t bytes);

  // Takes the pages now, so that no access waits for one. What the system can't do is left to the
  // first touch.
  void prefault() const;

  std::span<std::byte> memory() const { return {base_, bytes_}; }
  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); }
  explicit operator bool() const { return base_ != nullptr; }

 private:
  Segment(Descriptor descriptor, std::byte* base, std::size_t bytes)
      : descriptor_(std::move(descriptor)), base_(base), bytes_(bytes) {}

  Descriptor descriptor_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// "what of N bytes: the system's text", as kSystemCall.
Error system_error(const char* what, std::size_t bytes);

}  // namespace commrig::transport
