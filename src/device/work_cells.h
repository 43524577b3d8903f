// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "device/work.h"

namespace commrig::device {

class WorkCells;

// Ends a work that lies in a cell, or on the heap.
class WorkDeleter {
 public:
  WorkDeleter() = default;
  template <typename T>
  WorkDeleter(std::default_delete<T>) {
  }  // NOLINT(google-explicit-constructor): as unique_ptr's own
  WorkDeleter(WorkCells& cells, unsigned cell) : cells_(&cells), cell_(cell) {}

  inline void operator()(Work* work) const;

 private:
  WorkCells* cells_ = nullptr;  // null: on the heap
  unsigned cell_ = 0;
};

using WorkPtr = std::unique_ptr<Work, WorkDeleter>;

// Memory for the works that are on a stream: small ones lie in cells that are used again and again,
// as long as there are few; others come from the heap. Thread-safe. Must outlive the works.
class WorkCells {
 public:
  static constexpr std::size_t kCellBytes = 512;  // of the largest work that fits

  WorkCells() : cells_(std::make_unique_for_overwrite<Cell[]>(kCells)) {}

  template <typename T, typename... Arguments>
  WorkPtr make(Arguments&&... arguments) {
    static_assert(std::is_base_of_v<Work, T>);
    if constexpr (sizeof(T) <= sizeof(Cell) && alignof(T) <= alignof(Cell)) {
      if (const unsigned cell = take(); cell < kCells) {
        return construct<T>(cell, std::forward<Arguments>(arguments)...);
      }
    }
    return std::make_unique<T>(std::forward<Arguments>(arguments)...);
  }

  // Cells in use now.
  int taken() const { return std::popcount(taken_.load(std::memory_order_acquire)); }

 private:
  friend class WorkDeleter;
  static constexpr unsigned kCells = 32;
  struct alignas(64) Cell {
    std::byte memory[kCellBytes];  // NOLINT(modernize-avoid-c-arrays): left uninitialised
  };

  template <typename T, typename... Arguments>
  WorkPtr construct(unsigned cell, Arguments&&... arguments) {
    struct Guard {  // gives the cell back if the constructor throws
      WorkCells* cells;
      unsigned cell;
      ~Guard() {
        if (cells != nullptr) cells->give_back(cell);
      }
    } guard{this, cell};
    T* const work = new (cells_[cell].memory)  // tidy: allow(new) placement
        T(std::forward<Arguments>(arguments)...);
    guard.cells = nullptr;
    return {work, WorkDeleter(*this, cell)};
  }

  // kCells when all are taken.
  unsigned take() {
    std::uint32_t taken = taken_.load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto cell = static_cast<unsigned>(std::countr_one(taken));
      if (taken_.compare_exchange_weak(taken, taken | 1U << cell, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return cell;
      }
    }
    return kCells;
  }
  void give_back(unsigned cell) {
    taken_.fetch_and(~(std::uint32_t{1} << cell), std::memory_order_release);
  }

  std::unique_ptr<Cell[]> cells_;
  std::atomic<std::uint32_t> taken_{0};  // a bit for each
};

inline void WorkDeleter::operator()(Work* work) const {
  if (cells_ == nullptr) {
    delete work;  // tidy: allow(new) of make_unique's
    return;
  }
  work->~Work();
  cells_->give_back(cell_);
}

}  // namespace commrig::device
