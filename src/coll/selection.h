// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coll/algorithms.h"

namespace commrig::coll {

// Seconds for the parts of an algorithm's Work. The defaults were measured with ranks as threads of
// one x86-64 server with a core each: they say which algorithm is better there, not how fast it is.
struct CostModel {
  // A flag written by one core and seen by another: 0.1 to 0.3 us. Where ranks share a core, a
  // switch between threads: 1.1 us.
  double flag_seconds = 0.2e-6;
  double shared_core_seconds = 1.1e-6;
  // 8 bytes over TCP on the loopback interface, one way: 3 to 6 us.
  double message_seconds = 4.5e-6;
  double copied_bytes_per_second = 20e9;
  double folded_bytes_per_second = 15e9;
  // One TCP stream: 5 to 8 GB/s.
  double sent_bytes_per_second = 6e9;
  bool ranks_share_cores = false;
};

double cost_seconds(const Work& work, const CostModel& model);

// What a communicator can and may do.
struct Capabilities {
  bool shared_memory = true;
  bool strict = false;                             // only algorithms that round once, in rank order
  std::size_t slot_bytes = std::size_t{16} << 10;  // of a rank's scratch
  Tuning tuning{};
};

// What a user asks for by text, such as "all-reduce=ring@>1MiB;broadcast=chain".
class Rules {
 public:
  Rules() = default;
  // Otherwise kSelectionText, kUnknownCollective or kUnknownAlgorithm, with the position.
  static Result<Rules> parse(std::string_view text);

  struct Rule {
    Collective collective;
    const Algorithm* algorithm;
    // Sizes for which it holds, as of size_in_bytes(): both ends belong to it.
    std::size_t least;
    std::size_t most;
    std::string text;  // as it was written
  };
  // The first that fits, or null.
  const Rule* find(const Request& request) const;

 private:
  std::vector<Rule> rules_{};
};

struct Candidate {
  const Algorithm* algorithm;
  double seconds;
  std::string refused;  // why it can't be taken; empty if it can
};

struct Choice {
  const Algorithm* algorithm;
  std::string reason;
  std::vector<Candidate> candidates;  // every row that has a plan for the collective
};

// The algorithm of least cost, or the one that a rule names. Otherwise kNoAlgorithm, which says why
// the named one can't be taken, and errors of check().
Result<Choice> choose(const Request& request, const Capabilities& capabilities,
                      const CostModel& model = {}, const Rules& rules = {});

// A line for the choice, and one for each candidate.
std::string to_string(const Choice& choice);

}  // namespace commrig::coll
