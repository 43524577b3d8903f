// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/executor.h"
#include "base/function_ref.h"
#include "base/guarded.h"

namespace commrig::device {

class Stream;

// What threads that look for work know of one stream, without touching the stream itself.
struct alignas(64) StreamSlot {
  std::atomic<Stream*> stream{nullptr};  // null: the slot is free
  std::atomic<int> device{-1};
  std::atomic<int> users{0};  // threads inside the stream; it is destroyed only when there is none
  std::atomic<int> drivers{0};  // threads that synchronise this stream, and so look after it
  std::atomic<std::uint64_t> enqueued{0};
  std::atomic<std::uint64_t> completed{0};

  bool busy() const {
    return enqueued.load(std::memory_order_acquire) != completed.load(std::memory_order_acquire);
  }
};

// The streams of a machine. Reading takes no lock, and slots live as long as the table.
// Thread-safe.
class StreamTable {
 public:
  StreamTable() = default;
  ~StreamTable();
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  // A free slot, now taken by the stream.
  StreamSlot& add(Stream& stream, int device);

  // Frees the slot; returns when no thread is inside the stream any more.
  static void remove(StreamSlot& slot, Executor& executor);

  // Calls visit(slot) for each taken slot until it returns false. The stream may leave meanwhile:
  // see use().
  void visit(FunctionRef<bool(StreamSlot&)> visit) const;

  // The stream of the slot, which stays until release(); null when it has left.
  static Stream* use(StreamSlot& slot);
  static void release(StreamSlot& slot, Executor& executor);

  bool empty() const;

 private:
  static constexpr std::size_t kChunk = 64;
  struct Chunk {
    std::array<StreamSlot, kChunk> slots;
    std::atomic<Chunk*> next{nullptr};  // owned
  };
  Guarded<int> adding_;  // held while a slot is taken
  mutable Chunk first_;  // slots may be changed by whoever may look at them
};

}  // namespace commrig::device
