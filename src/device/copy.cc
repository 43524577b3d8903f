// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <cstring>

#include <fmt/format.h>

#include "device/machine.h"

namespace commrig::device {
namespace {

class CopyWork final : public Work {
 public:
  CopyWork(Memory& memory, void* target, const void* source, std::size_t bytes)
      : memory_(memory), target_(target), source_(source), bytes_(bytes) {}
  Result<Progress> step() override;

 private:
  Memory& memory_;
  void* target_;
  const void* source_;
  std::size_t bytes_;
};

class FillWork final : public Work {
 public:
  FillWork(Window target, std::uint8_t value) : target_(std::move(target)), value_(value) {}
  Result<Progress> step() override {
    if (!target_.permits(0, target_.bytes(), 1)) return target_.refusal(0, target_.bytes(), 1);
    std::memset(target_.base(), value_, target_.bytes());
    return Progress::kDone;
  }

 private:
  Window target_;
  std::uint8_t value_;
};

Status check_side(const Memory& memory, const void* pointer, std::size_t bytes, HostAccess access) {
  if (pointer == nullptr) return Error::make(Code::kUnknownPointer, "a copy with a null pointer");
  return check_range(memory, pointer, bytes, access);
}

bool overlap(const void* a, const void* b, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return (first < second ? second - first : first - second) < bytes;
}

Result<Progress> CopyWork::step() {
  // Again, since a buffer may have been freed between the call and now.
  COMMRIG_TRY(check_side(memory_, target_, bytes_, HostAccess::kWrite));
  COMMRIG_TRY(check_side(memory_, source_, bytes_, HostAccess::kRead));
  if (target_ != source_) std::memcpy(target_, source_, bytes_);
  return Progress::kDone;
}

}  // namespace

Status copy(Stream& stream, void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return ok();
  Memory& memory = stream.machine().memory();
  COMMRIG_TRY(check_side(memory, target, bytes, HostAccess::kWrite));
  COMMRIG_TRY(check_side(memory, source, bytes, HostAccess::kRead));
  if (target != source && overlap(target, source, bytes)) {
    return Error::make(
        Code::kBadArgument,
        fmt::format("a copy of {} bytes from {} to {}, which overlap", bytes, source, target));
  }
  return stream.enqueue(std::make_unique<CopyWork>(memory, target, source, bytes));
}

Status fill(Stream& stream, void* target, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return ok();
  COMMRIG_ASSIGN(Window window, stream.machine().memory().resolve(target, bytes));
  return stream.enqueue(std::make_unique<FillWork>(std::move(window), value));
}

}  // namespace commrig::device
