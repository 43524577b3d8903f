// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coll/algorithms.h"
#include "coll/verifier.h"

// What the tests of plans ask for. With COMMRIG_EXHAUSTIVE set they ask for more.
namespace commrig::coll {

inline bool exhaustive() {
  return std::getenv("COMMRIG_EXHAUSTIVE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

inline std::vector<const Algorithm*> algorithm_pointers() {
  std::vector<const Algorithm*> pointers;
  for (const Algorithm& algorithm : all_algorithms()) pointers.push_back(&algorithm);
  return pointers;
}

inline std::string algorithm_test_name(const testing::TestParamInfo<const Algorithm*>& info) {
  std::string text;
  for (const char c : info.param->name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) text += c;
  }
  return text;
}

inline std::string describe(const Request& request) {
  std::string text = std::string(name(request.collective)) + ", " + std::to_string(request.ranks) +
                     " ranks, root " + std::to_string(request.root) + ", count " +
                     std::to_string(request.count) + (request.in_place ? ", in place" : "");
  for (const std::size_t count : request.counts) text += " " + std::to_string(count);
  return text;
}

inline std::string describe(const PlanSet& set) {
  return set.algorithm + " " + describe(set.request);
}

inline std::vector<Collective> collectives_of(const Algorithm& algorithm) {
  std::vector<Collective> all;
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (algorithm.form(collective) != nullptr) all.push_back(collective);
  }
  return all;
}

// Counts for the V forms: none alike, some zero, `most` at most.
inline void set_uneven_counts(Request& request, std::size_t most) {
  if (!has_counts(request.collective)) return;
  const auto n = static_cast<std::size_t>(request.ranks);
  const std::size_t blocks = request.collective == Collective::kAllToAllV ? n * n : n;
  request.counts.clear();
  for (std::size_t i = 0; i < blocks; ++i) request.counts.push_back((i * 7 + most) % (most + 1));
  request.count = 0;
}

// One request for each way that an algorithm can go, small enough to run many times.
inline std::vector<Request> small_requests(const Algorithm& algorithm, int ranks) {
  std::vector<Request> requests;
  for (const Collective collective : collectives_of(algorithm)) {
    for (const bool in_place : {false, true}) {
      Request request{.collective = collective,
                      .ranks = ranks,
                      .root = has_root(collective) ? ranks / 2 : 0,
                      .count = static_cast<std::size_t>(ranks) + 1,
                      .element_bytes = 4,
                      .in_place = in_place};
      if (base_form(collective) != collective || collective == Collective::kAllToAll) {
        request.count = 2;
      }
      set_uneven_counts(request, 3);
      requests.push_back(request);
    }
  }
  return requests;
}

inline std::size_t mutants_for_each_plan() {
  return exhaustive() ? 100'000 : 12;
}

}  // namespace commrig::coll
