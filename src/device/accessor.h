// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "base/executor.h"
#include "base/wait.h"
#include "device/memory.h"

namespace commrig::device {

// The sizes that hardware reads and writes in one piece.
template <class T>
concept Word = std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8);

// How rank code (and a server on its behalf) touches memory that others can see: windows, flags,
// workspaces. Every access is checked against its window and shown to the executor's access hook,
// when it has one; without one that costs a predictable branch. A release store or add wakes those
// who wait on that word. One accessor belongs to one thread of control.
class Accessor {
 public:
  using Where = std::source_location;

  // The executor must outlive the accessor. `rank`: on whose behalf, -1 for nobody's.
  Accessor(Executor& executor, int rank)
      : executor_(executor), hook_(executor.access_hook()), rank_(rank) {}

  // Reads or writes the word at `offset` bytes into the window.
  template <Word T>
  Result<T> load(const Window& window, std::size_t offset, Order order = Order::kAcquire,
                 Where where = Where::current()) {
    if (!window.permits(offset, sizeof(T), sizeof(T))) [[unlikely]] {
      return window.refusal(offset, sizeof(T), sizeof(T));
    }
    show(AccessKind::kLoad, window, offset, sizeof(T), order, where);
    return word<T>(window, offset).load(read_order(order));
  }

  template <Word T>
  Status store(const Window& window, std::size_t offset, T value, Order order = Order::kRelease,
               Where where = Where::current()) {
    if (!window.permits(offset, sizeof(T), sizeof(T))) [[unlikely]] {
      return window.refusal(offset, sizeof(T), sizeof(T));
    }
    show(AccessKind::kStore, window, offset, sizeof(T), order, where);
    word<T>(window, offset).store(value, write_order(order));
    if (order != Order::kRelaxed) executor_.wake(window.base() + offset);
    return ok();
  }

  // As a release store, but without waking anybody: the caller does so by the word's address, of
  // several words at once.
  template <Word T>
  Status store_unwoken(const Window& window, std::size_t offset, T value,
                       Where where = Where::current()) {
    if (!window.permits(offset, sizeof(T), sizeof(T))) [[unlikely]] {
      return window.refusal(offset, sizeof(T), sizeof(T));
    }
    show(AccessKind::kStore, window, offset, sizeof(T), Order::kRelease, where);
    word<T>(window, offset).store(value, std::memory_order_release);
    return ok();
  }

  // Adds to the word (wrapping) and returns what it held before.
  template <Word T>
  Result<T> add(const Window& window, std::size_t offset, T value,
                Order order = Order::kAcquireRelease, Where where = Where::current()) {
    if (!window.permits(offset, sizeof(T), sizeof(T))) [[unlikely]] {
      return window.refusal(offset, sizeof(T), sizeof(T));
    }
    show(AccessKind::kAdd, window, offset, sizeof(T), order, where);
    const T before = word<T>(window, offset).fetch_add(value, std::memory_order_acq_rel);
    executor_.wake(window.base() + offset);
    return before;
  }

  // Copies `bytes` from private memory into the window, or out of it. The bytes are ordered by the
  // flag that is stored or loaded after or before, not by themselves. No bytes: nothing happens.
  Status put(const Window& window, std::size_t offset, const void* source, std::size_t bytes,
             Where where = Where::current());
  Status get(const Window& window, std::size_t offset, void* target, std::size_t bytes,
             Where where = Where::current());

  // A release store of a flag behind the data that was put before it.
  template <Word T>
  Status notify(const Window& window, std::size_t offset, T value, Where where = Where::current()) {
    return store<T>(window, offset, value, Order::kRelease, where);
  }

  // Orders all accesses before it before all accesses after it, as others see them.
  void fence(Where where = Where::current());

  struct WaitOptions {
    const char* what = "a word";  // static text for people
    const AbortFlag* abort = nullptr;
    Nanos deadline = kForever;
  };
  // Waits until the word at `offset` compares so with `value`. Ends with the abort's error, with
  // kDeadline, or with the window's refusal.
  template <Word T>
  Status wait(const Window& window, std::size_t offset, Compare compare, T value,
              const WaitOptions& options, Where where = Where::current()) {
    if (!window.permits(offset, sizeof(T), sizeof(T))) [[unlikely]] {
      return window.refusal(offset, sizeof(T), sizeof(T));
    }
    show(AccessKind::kLoad, window, offset, sizeof(T), Order::kAcquire, where);
    return wait_word({.address = window.base() + offset,
                      .bytes = sizeof(T),
                      .compare = compare,
                      .value = static_cast<std::uint64_t>(value)},
                     options);
  }

  Executor& executor() const { return executor_; }
  int rank() const { return rank_; }
  Nanos now() const { return executor_.now(); }

  // What this thread of control waits for at the moment, for others to look at.
  const WaitPost& post() const { return post_; }

 protected:
  // For the owner of the thread: its waits count as those of a computing rank, are told to
  // `observer` (may be null) and end with `abort` (may be null).
  void set_user_code(WaitObserver* observer, const AbortFlag* abort) {
    in_user_code_ = true;
    observer_ = observer;
    abort_ = abort;
  }

 private:
  template <class T>
  static std::atomic_ref<T> word(const Window& window, std::size_t offset) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(window.base() + offset));
  }
  static std::memory_order read_order(Order order) {
    return order == Order::kRelaxed ? std::memory_order_relaxed : std::memory_order_acquire;
  }
  static std::memory_order write_order(Order order) {
    return order == Order::kRelaxed ? std::memory_order_relaxed : std::memory_order_release;
  }
  void show(AccessKind kind, const Window& window, std::size_t offset, std::size_t bytes,
            Order order, const Where& where) {
    if (hook_ != nullptr) [[unlikely]] {
      hook_->before(Access{kind, window.base() + offset, bytes, order, rank_, where});
    }
  }
  Status wait_word(const WordCondition& condition, const WaitOptions& options);

  Executor& executor_;
  AccessHook* hook_;
  int rank_;
  bool in_user_code_ = false;
  WaitObserver* observer_ = nullptr;
  const AbortFlag* abort_ = nullptr;
  WaitPost post_;
};

}  // namespace commrig::device
