// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "commrig/commrig.h"

namespace api_test {

// A runtime with a communicator and a stream for each rank.
class Ranks {
 public:
  explicit Ranks(int ranks, const commrig::CommunicatorOptions& options = {})
      : runtime_(commrig::Runtime::create({/*devices=*/2}).value()),
        comms_(commrig::Communicator::create_all(runtime_, ranks, options).value()) {
    for (int rank = 0; rank < ranks; ++rank) {
      streams_.push_back(commrig::Stream::create(runtime_, rank % 2).value());
    }
  }
  int count() const { return static_cast<int>(comms_.size()); }
  commrig::Runtime& runtime() { return runtime_; }
  commrig::Communicator& comm(int rank) { return comms_[static_cast<std::size_t>(rank)]; }
  commrig::Stream& stream(int rank) { return streams_[static_cast<std::size_t>(rank)]; }

  // Runs body(communicator, stream) on a thread for each rank.
  template <class Body>
  void on_threads(const Body& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count(); ++rank) {
      threads.emplace_back([&, rank] { body(comm(rank), stream(rank)); });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  commrig::Runtime runtime_;
  std::vector<commrig::Communicator> comms_;
  std::vector<commrig::Stream> streams_;
};

}  // namespace api_test

#define EXPECT_OK(expression)                                  \
  do {                                                         \
    const commrig::Status status = (expression);               \
    EXPECT_TRUE(status) << commrig::to_string(status.error()); \
  } while (false)

#define EXPECT_ERROR(expression, expected)                                        \
  do {                                                                            \
    const auto result = (expression);                                             \
    ASSERT_FALSE(result);                                                         \
    EXPECT_EQ(result.error().id, expected) << commrig::to_string(result.error()); \
  } while (false)
