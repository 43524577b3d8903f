// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/accessor.h"

#include "base/fence.h"

namespace commrig::device {

Status Accessor::put(const Window& window, std::size_t offset, const void* source,
                     std::size_t bytes, Where where) {
  if (bytes == 0) return ok();
  if (!window.permits(offset, bytes, 1)) return window.refusal(offset, bytes, 1);
  show(AccessKind::kPut, window, offset, bytes, Order::kRelaxed, where);
  std::memcpy(window.base() + offset, source, bytes);
  return ok();
}

Status Accessor::get(const Window& window, std::size_t offset, void* target, std::size_t bytes,
                     Where where) {
  if (bytes == 0) return ok();
  if (!window.permits(offset, bytes, 1)) return window.refusal(offset, bytes, 1);
  show(AccessKind::kGet, window, offset, bytes, Order::kRelaxed, where);
  std::memcpy(target, window.base() + offset, bytes);
  return ok();
}

void Accessor::fence(Where where) {
  if (hook_ != nullptr) [[unlikely]] {
    hook_->before(Access{AccessKind::kFence, nullptr, 0, Order::kAcquireRelease, rank_, where});
  }
  full_fence();
}

Status Accessor::wait_word(const WordCondition& condition, const WaitOptions& options) {
  const auto ready = [&condition] { return condition.satisfied(); };
  return executor_.wait({.key = condition.address,
                         .ready = ready,
                         .what = options.what,
                         .abort = options.abort != nullptr ? options.abort : abort_,
                         .deadline = options.deadline,
                         .in_user_code = in_user_code_,
                         .condition = &condition,
                         .post = &post_,
                         .observer = observer_});
}

}  // namespace commrig::device
