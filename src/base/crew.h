// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/executor.h"
#include "base/function_ref.h"
#include "base/guarded.h"

namespace commrig {

// Service threads that do the pieces of one big job together with the caller. The pieces may run in
// any order and at the same time, and must not wait. One job at a time: run() is not thread-safe.
class Crew {
 public:
  // The executor must outlive the crew.
  Crew(Executor& executor, int helpers);
  // Joins the helpers.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls piece(i) once for each i below `count`, on this thread and on those helpers that come in
  // time; returns when all have ended.
  void run(std::size_t count, FunctionRef<void(std::size_t)> piece);

 private:
  // Shared between the caller and helpers that come late, after the last piece was taken.
  struct Job {
    std::size_t count;
    FunctionRef<void(std::size_t)> piece;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> ended{0};
    Job(std::size_t pieces, FunctionRef<void(std::size_t)> function)
        : count(pieces), piece(function) {}
  };
  void help();
  void take_pieces(Job& job) const;

  Executor& executor_;
  Guarded<std::shared_ptr<Job>> job_;
  std::atomic<std::uint64_t> jobs_{0};  // announced so far; what helpers wait for
  std::atomic<bool> closing_{false};
  std::atomic<int> helpers_;
};

}  // namespace commrig
