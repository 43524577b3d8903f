// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/door.h"
#include "base/thread_executor.h"
#include "transport/link.h"

// What every kind of link must do (src/transport/link.h). A kind earns its tests by a LinkWorld of
// its own and INSTANTIATE_TEST_SUITE_P of LinkTest and, unless it loops, of PairLinkTest;
// link_suite_test.cc has the tests.
namespace commrig::transport {

using Bytes = std::vector<std::byte>;

// Two connected ends, ranks 0 and 1, and all that they need.
class LinkWorld {
 public:
  virtual ~LinkWorld() = default;
  virtual Link& a() = 0;
  // The same as a() in a link to itself.
  virtual Link& b() = 0;
  // Where a rank has these bytes when it sends them: as they are, or copied to the memory that this
  // kind is about. Valid until the rank's next call.
  virtual std::span<const std::byte> place(int /*rank*/, std::span<const std::byte> bytes) {
    return bytes;
  }
  // Destroys that end, as when its communicator ends.
  virtual void close_b() = 0;
};

struct LinkCase {
  const char* name;
  // The wakers are those of rank 0 and rank 1.
  std::function<std::unique_ptr<LinkWorld>(Waker& a, Waker& b)> make;
  bool loops = false;
};
inline void PrintTo(const LinkCase& link, std::ostream* stream) {
  *stream << link.name;
}
inline std::string name_of(const testing::TestParamInfo<LinkCase>& info) {
  return info.param.name;
}

// Drives messages as a process does that has nothing else to do: whenever nothing could go on, it
// sleeps at its door, and nothing but a waker lets it look again. Who sleeps for ever gets
// kDeadline after a long time. Thread-safe.
class Driver {
 public:
  explicit Driver(Door& door);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  Status until_done(FunctionRef<Result<Progress>()> step);
  Status send(Link& link, std::span<const std::byte> bytes);
  Status recv(Link& link, std::span<std::byte> bytes);
  // Runs the bodies on threads of their own and waits for their end.
  void run(const std::vector<std::function<void()>>& bodies);

 private:
  Door& door_;
  ThreadExecutor executor_{1};
};

// `count` bytes that depend on the seed and on their position.
Bytes pattern(std::uint64_t seed, std::size_t count);

// Sizes where something changes: nothing, one, words, the bound of eager messages, rings, pieces of
// a network link, and a large one.
std::vector<std::size_t> telling_sizes();

using Placing = std::function<std::span<const std::byte>(std::span<const std::byte>)>;

// Random messages in both directions at once. Both ranks compute from the seed what each sends.
Status random_traffic(Driver& driver, Link& link, int rank, std::uint64_t seed,
                      const Placing& place = std::identity());

class LinkTest : public testing::TestWithParam<LinkCase> {
 protected:
  LinkTest();
  Driver& driver_a() { return *drivers_[0]; }
  Driver& driver_b() { return *drivers_[GetParam().loops ? 0 : 1]; }
  Link& a() { return world_->a(); }
  Link& b() { return world_->b(); }
  Placing placing(int rank) {
    return [this, rank](std::span<const std::byte> bytes) { return world_->place(rank, bytes); };
  }
  // Sends on a and receives on b, by one thread; what was received is in `target`.
  Status pass(std::span<const std::byte> source, std::span<std::byte> target);

  Door doors_[2];
  DoorWaker wakers_[2];
  std::unique_ptr<Driver> drivers_[2];
  std::unique_ptr<LinkWorld> world_;
};

// What only a link between two ranks can do.
class PairLinkTest : public LinkTest {};

}  // namespace commrig::transport
