// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "bootstrap/environment.h"
#include "transport/segment.h"

namespace commrig::comm {

struct TallyPage;

// What the ranks of a job have done, in memory that they share with whoever has started the job; so
// a rank that dies counts what it had done, and a program that knows nothing of commrig 0. Each
// process adds to the line of its rank. Thread-safe.
class Tally {
 public:
  // Where ranks find it: the path of an open file of the process that has made it.
  static constexpr const char* kVariable = "COMMRIG_TALLY";

  struct Sum {
    std::uint64_t collectives = 0;  // each once, by rank 0 of its communicator
    std::uint64_t messages = 0;     // each once, by its sender
    std::uint64_t bytes = 0;        // that ranks have handed in: inputs, and messages sent
    std::uint64_t findings = 0;     // communicators that ended with an error
  };

  // For so many ranks, all 0. Fails with kSystemCall.
  static Result<Tally> create(int ranks);
  // The one that the environment names; one that counts for nobody where there is none, or where
  // this process may not see it.
  static Tally attach(bootstrap::Environment environment);

  // The value of the variable. As long as this object lives, and this process.
  std::string path() const;
  Sum sum() const;

  void add_collective(std::uint64_t bytes, bool counts);
  void add_message(std::uint64_t bytes);
  // An error of the communicator with this number, which counts once whoever tells it.
  void add_finding(std::uint64_t communicator);

 private:
  Tally() = default;
  TallyPage* page() const;

  transport::Segment segment_;
  std::size_t line_ = 0;
};

// That of this process, by its environment; attached by the first call.
Tally& process_tally();

}  // namespace commrig::comm
