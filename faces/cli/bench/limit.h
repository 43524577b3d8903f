// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <map>
#include <optional>

#include "faces/cli/bench/operation.h"

namespace commrig::cli::bench {

// How fast the memory of this machine lets an operation be: each input that is needed is read once,
// each output written once, by as many threads as there are ranks or cores, in buffers as large as
// the operation's all together. What memory can do is measured when it is asked for.
class MachineLimit {
 public:
  // Seconds of one call; nothing for sizes that take less time than it takes ranks to meet.
  std::optional<double> seconds(const Load& load);

 private:
  struct Rates {
    double read;
    double write;
    double copy;
  };
  Rates measure(int threads, std::size_t bytes);
  std::map<std::size_t, Rates> known_;  // by bytes
};

}  // namespace commrig::cli::bench
