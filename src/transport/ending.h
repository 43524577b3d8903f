// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <optional>

#include "base/guarded.h"
#include "base/result.h"
#include "transport/link.h"

namespace commrig::transport {

// Why an end of a link does not go on: the first error that was set stays. Thread-safe.
class Ending {
 public:
  void set(const Error& error) {
    const auto held = error_.lock();
    if (held->has_value()) return;
    held->emplace(error);
    set_.store(true, std::memory_order_seq_cst);
  }
  bool is_set() const { return set_.load(std::memory_order_seq_cst); }
  std::optional<Error> error() const {
    if (!is_set()) return std::nullopt;
    return *error_.lock();
  }

 private:
  std::atomic<bool> set_{false};
  Guarded<std::optional<Error>> error_;
};

// What all kinds of links say of the same faults.
// `lost_rank`: see Link::abort.
Error aborted(const Ends& ends, int lost_rank);
Error closed(const Ends& ends, std::size_t moved, std::size_t bytes);

// Length and elements of a message in one word, in which an end tells the other what it refuses.
constexpr std::uint64_t shape_of(std::uint64_t bytes, Elements elements) {
  return bytes | std::uint64_t{elements} << 56U;
}
// Whether a message of this length and these elements may be received into that place.
constexpr bool agree(std::uint64_t bytes, Elements elements, const Incoming& place) {
  const bool same = elements == place.elements;
  return bytes == place.bytes && (same || elements == kUntyped || place.elements == kUntyped);
}
// `sender` and `receiver` are ranks, the others shapes.
Error refused(int sender, std::uint64_t sent, int receiver, std::uint64_t expected);

// "rank 1 (thread)"
std::string name_of_peer(const Ends& ends);

}  // namespace commrig::transport
