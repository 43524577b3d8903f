// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/guarded.h"

namespace commrig::rig {

// Gives numbers to objects and finds them again, for interfaces whose handles are pointers. A
// handle points at nothing and is given once, so that a destroyed, foreign or invented one is seen,
// whatever its value. Thread-safe.
template <class T>
class Handles {
 public:
  // `tag`, from 3 to 15, is of this table alone: handles of different tables never meet.
  explicit Handles(std::uintptr_t tag) : tag_(tag) {}

  // The table shares the object until remove(), with those who have found it meanwhile.
  void* add(std::shared_ptr<T> object) {
    const std::uintptr_t handle = (next_.fetch_add(1, std::memory_order_relaxed) << 4U) | tag_;
    objects_.lock()->emplace(handle, std::move(object));
    return reinterpret_cast<void*>(handle);  // NOLINT(performance-no-int-to-ptr): never followed
  }

  // Null for a handle that isn't in the table.
  std::shared_ptr<T> find(const void* handle) const {
    const auto objects = objects_.lock();
    const auto place = objects->find(reinterpret_cast<std::uintptr_t>(handle));
    return place == objects->end() ? nullptr : place->second;
  }

  // Takes it out of the table; null if it isn't there. Of several threads, one gets it.
  std::shared_ptr<T> remove(const void* handle) {
    const auto objects = objects_.lock();
    const auto place = objects->find(reinterpret_cast<std::uintptr_t>(handle));
    if (place == objects->end()) return nullptr;
    std::shared_ptr<T> found = std::move(place->second);
    objects->erase(place);
    return found;
  }

  // Whether the handle was given by this table, and its object is not there any more.
  bool was_given(const void* handle) const {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    return (value & 15U) == tag_ && (value >> 4U) >= kFirst &&
           (value >> 4U) < next_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uintptr_t kFirst = 0x100;
  const std::uintptr_t tag_;
  std::atomic<std::uintptr_t> next_{kFirst};
  Guarded<std::unordered_map<std::uintptr_t, std::shared_ptr<T>>> objects_;  // shared, see add()
};

}  // namespace commrig::rig
