// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/conformance/link_suite.h"

#include <algorithm>
#include <array>
#include <atomic>

#include <fmt/format.h>

#include "base/rng.h"

namespace commrig::transport {
namespace {

constexpr Nanos kLong{30'000'000'000};

}  // namespace

Driver::Driver(Door& door) : door_(door) {
  executor_.use_door(&door_, door_);
}

Status Driver::until_done(FunctionRef<Result<Progress>()> step) {
  while (true) {
    const std::uint64_t seen = door_.rung.load(std::memory_order_acquire);
    COMMRIG_ASSIGN(const Progress progress, step());
    if (progress == Progress::kDone) return ok();
    const auto rung = [&] { return door_.rung.load(std::memory_order_acquire) != seen; };
    COMMRIG_TRY(executor_.wait(
        {.key = &door_, .ready = rung, .what = "a link", .deadline = executor_.now() + kLong}));
  }
}

Status Driver::send(Link& link, std::span<const std::byte> bytes) {
  Outgoing message{.data = bytes.data(), .bytes = bytes.size()};
  return until_done([&] { return link.send(message); });
}

Status Driver::recv(Link& link, std::span<std::byte> bytes) {
  Incoming message{.data = bytes.data(), .bytes = bytes.size()};
  return until_done([&] { return link.recv(message); });
}

void Driver::run(const std::vector<std::function<void()>>& bodies) {
  std::atomic<std::size_t> left{bodies.size()};
  for (const auto& body : bodies) {
    ASSERT_TRUE(executor_.spawn(Role::kUserCode, "rank", [&, body] {
      body();
      left.fetch_sub(1);
      executor_.wake(&left);
    }));
  }
  ASSERT_TRUE(executor_.wait({.key = &left, .ready = [&] { return left.load() == 0; }}));
}

Bytes pattern(std::uint64_t seed, std::size_t count) {
  Bytes bytes(count);
  std::uint64_t word = seed * 0x9E3779B97F4A7C15U + 1;
  for (std::byte& byte : bytes) {
    word = word * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(word >> 56U);
  }
  return bytes;
}

std::vector<std::size_t> telling_sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 7, 8, 9, 1000, std::size_t{8} << 20U};
  for (const std::size_t edge :
       std::initializer_list<std::size_t>{4096, 16 * 1024, 64 * 1024, 256 * 1024}) {
    // Rings hold a header beside the bytes.
    for (const std::size_t less : std::initializer_list<std::size_t>{25, 24, 23, 1})
      sizes.push_back(edge - less);
    for (const std::size_t more : std::initializer_list<std::size_t>{0, 1, 8})
      sizes.push_back(edge + more);
  }
  return sizes;
}

Status random_traffic(Driver& driver, Link& link, int rank, std::uint64_t seed,
                      const Placing& place) {
#ifdef COMMRIG_SANITIZED
  constexpr std::size_t kMessages = 40;
#else
  constexpr std::size_t kMessages = 100;
#endif
  constexpr std::size_t kSizes[] = {16, 200, 5000, 20'000, 100'000, 600'000};
  // One generator per direction, so that both ranks know what passes in it.
  std::array<Rng, 2> rngs{Rng(2 * seed), Rng(2 * seed + 1)};
  const auto mine = static_cast<std::size_t>(rank);
  for (std::size_t done = 0; done < kMessages; ++done) {
    const auto draw = [&](std::size_t direction) {
      const std::size_t limit = kSizes[rngs[direction].below(std::size(kSizes))];
      return pattern(rngs[direction].next(), rngs[direction].below(limit));
    };
    const Bytes drawn = draw(mine);
    const std::span<const std::byte> sent = place(drawn);
    const Bytes expected = draw(1 - mine);
    Bytes received(expected.size() + 8, std::byte{0x55});
    const std::size_t shift = done % 8;
    Outgoing out{.data = sent.data(), .bytes = sent.size()};
    Incoming in{.data = received.data() + shift, .bytes = expected.size()};
    bool sends = true;
    bool receives = true;
    COMMRIG_TRY(driver.until_done([&]() -> Result<Progress> {
      if (sends) {
        COMMRIG_ASSIGN(const Progress progress, link.send(out));
        sends = progress == Progress::kPending;
      }
      if (receives) {
        COMMRIG_ASSIGN(const Progress progress, link.recv(in));
        receives = progress == Progress::kPending;
      }
      return sends || receives ? Progress::kPending : Progress::kDone;
    }));
    if (!std::equal(expected.begin(), expected.end(), in.data)) {
      return Error::make(Code::kWrongResult,
                         fmt::format("message {} of {} bytes to rank {} with seed {} differs", done,
                                     expected.size(), rank, seed));
    }
  }
  return ok();
}

LinkTest::LinkTest()
    : wakers_{DoorWaker(doors_[0]), DoorWaker(doors_[1])},
      drivers_{std::make_unique<Driver>(doors_[0]), std::make_unique<Driver>(doors_[1])} {
  world_ = GetParam().make(wakers_[0], wakers_[1]);
}

Status LinkTest::pass(std::span<const std::byte> source, std::span<std::byte> target) {
  const auto placed = world_->place(0, source);
  Outgoing out{.data = placed.data(), .bytes = placed.size()};
  Incoming in{.data = target.data(), .bytes = target.size()};
  Progress sent = Progress::kPending;
  Progress received = Progress::kPending;
  // Only by calling: nobody here listens to a waker.
  const Nanos end = RealClock().now() + kLong;
  while (sent == Progress::kPending || received == Progress::kPending) {
    if (sent == Progress::kPending) {
      COMMRIG_ASSIGN(sent, a().send(out));
    }
    if (received == Progress::kPending) {
      COMMRIG_ASSIGN(received, b().recv(in));
    }
    if (RealClock().now() > end) return Error::make(Code::kDeadline, "passing a message");
  }
  return ok();
}

}  // namespace commrig::transport
