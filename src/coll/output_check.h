// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coll/memory.h"
#include "coll/verifier.h"

namespace commrig::coll {

inline constexpr int kAllRanks = -1;

// A stretch of an output: elements from `at` on of the input of `source`, or of kAllRanks folded.
struct Promise {
  std::size_t count;
  int source;
  std::size_t at;
};

// What the collective promises a rank.
std::vector<Promise> promised_output(const Request& request, int rank);

// Compares outputs with what was promised, and those of all ranks with each other where all get the
// same folds.
class OutputCheck {
 public:
  OutputCheck(const PlanSet& set, int operation) : set_(set), operation_(operation) {}

  // What is wrong with the output of `rank`, and as which code; nothing if it is right.
  struct Mistake {
    Code code;
    std::string what;
  };
  std::optional<Mistake> check(const Expressions& expressions, int rank, const Contents& output);

  std::size_t results() const { return results_; }

 private:
  std::optional<Mistake> check_stretch(const Expressions& expressions, const Promise& promise,
                                       std::size_t offset, const Value& value) const;

  const PlanSet& set_;
  int operation_;
  std::size_t results_ = 0;
  int first_rank_ = -1;
  Contents first_output_{};
};

}  // namespace commrig::coll
