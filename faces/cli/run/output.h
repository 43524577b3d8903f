// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"

namespace commrig::cli::run {

// What is still to be written to standard output and standard error, in the order in which it came;
// so whole lines stay whole where both are the same file. Never blocks where poll(2) says that it
// needn't. Not thread-safe.
class Output {
 public:
  // Ranks had better not be read while so much waits.
  static constexpr std::size_t kBytesMax = std::size_t{4} << 20U;

  void add(int descriptor, std::string text);

  bool empty() const { return pieces_.empty(); }
  bool full() const { return bytes_ >= kBytesMax; }
  // Who reads that descriptor has gone, or it takes nothing; what is added for it is dropped.
  bool closed(int descriptor) const { return closed_.contains(descriptor); }
  // What to poll for POLLOUT; -1 when there is nothing to write.
  int descriptor() const { return pieces_.empty() ? -1 : pieces_.front().descriptor; }
  // Why something was dropped, where that is not just a reader that has gone: kSystemCall.
  const std::optional<Error>& failure() const { return failure_; }
  // To be called when the descriptor is writable, or in error.
  void write_some();

 private:
  struct Piece {
    int descriptor;
    std::string text;
    std::size_t written = 0;
  };
  void drop(int descriptor);

  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
  std::set<int> closed_;
  std::optional<Error> failure_;
};

}  // namespace commrig::cli::run
