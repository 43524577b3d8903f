// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace commrig {

// A value and the mutex that protects it, as one object: the value can only be reached through
// lock(), so it can't be touched without the lock.
//
//   Guarded<std::vector<int>> list;
//   list.lock()->push_back(1);
template <class T>
class Guarded {
 public:
  // Holds the lock as long as it lives. Keep it short; never wait while holding one.
  class Locked {
   public:
    T& operator*() const { return *value_; }
    T* operator->() const { return value_; }

   private:
    friend class Guarded;
    Locked(std::unique_lock<std::mutex> lock, T& value) : lock_(std::move(lock)), value_(&value) {}
    Locked(std::mutex& mutex, T& value) : lock_(mutex), value_(&value) {}
    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  Locked lock() { return Locked(mutex_, value_); }
  Locked lock() const { return Locked(mutex_, value_); }
  // Nothing while somebody else holds it.
  std::optional<Locked> try_lock() {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return std::nullopt;
    return Locked(std::move(lock), value_);
  }

 private:
  mutable std::mutex mutex_;
  mutable T value_{};
};

}  // namespace commrig
