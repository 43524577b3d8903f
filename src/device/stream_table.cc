// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/stream_table.h"

namespace commrig::device {

StreamTable::~StreamTable() {
  for (Chunk* chunk = first_.next.load(std::memory_order_relaxed); chunk != nullptr;) {
    const std::unique_ptr<Chunk> owned(chunk);
    chunk = owned->next.load(std::memory_order_relaxed);
  }
}

StreamSlot& StreamTable::add(Stream& stream, int device) {
  const auto adding = adding_.lock();
  Chunk* chunk = &first_;
  while (true) {
    for (StreamSlot& slot : chunk->slots) {
      if (slot.stream.load(std::memory_order_relaxed) != nullptr) continue;
      // Somebody may still be on his way out of the stream that had it before.
      if (slot.users.load(std::memory_order_acquire) != 0) continue;
      slot.device.store(device, std::memory_order_relaxed);
      slot.enqueued.store(0, std::memory_order_relaxed);
      slot.completed.store(0, std::memory_order_relaxed);
      slot.stream.store(&stream, std::memory_order_seq_cst);
      return slot;
    }
    Chunk* next = chunk->next.load(std::memory_order_relaxed);
    if (next == nullptr) {
      next = std::make_unique<Chunk>().release();
      chunk->next.store(next, std::memory_order_release);
    }
    chunk = next;
  }
}

void StreamTable::remove(StreamSlot& slot, Executor& executor) {
  slot.stream.store(nullptr, std::memory_order_seq_cst);
  const Status unused =
      executor.wait({.key = &slot,
                     .ready = [&slot] { return slot.users.load(std::memory_order_seq_cst) == 0; },
                     .what = "the last advance of a stream"});
  COMMRIG_CHECK(unused.has_value(), to_string(unused.error()));
}

void StreamTable::visit(FunctionRef<bool(StreamSlot&)> visit) const {
  for (Chunk* chunk = &first_; chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_acquire)) {
    for (StreamSlot& slot : chunk->slots) {
      if (slot.stream.load(std::memory_order_relaxed) == nullptr) continue;
      if (!visit(slot)) return;
    }
  }
}

// The announcement comes before the look at the stream, as in remove() the other way round: either
// this thread sees that the stream has left, or remove() sees this thread.
Stream* StreamTable::use(StreamSlot& slot) {
  slot.users.fetch_add(1, std::memory_order_seq_cst);
  return slot.stream.load(std::memory_order_seq_cst);
}

void StreamTable::release(StreamSlot& slot, Executor& executor) {
  if (slot.users.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  if (slot.stream.load(std::memory_order_seq_cst) == nullptr) executor.wake(&slot);
}

bool StreamTable::empty() const {
  bool empty = true;
  visit([&empty](StreamSlot&) { return empty = false; });
  return empty;
}

}  // namespace commrig::device
