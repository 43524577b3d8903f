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
// `sender` and `receiver` are ranks.
Error wrong_length(int sender, std::uint64_t sent, int receiver, std::uint64_t expected);

// "rank 1 (thread)"
std::string name_of_peer(const Ends& ends);

}  // namespace commrig::transport
