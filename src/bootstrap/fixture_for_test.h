// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/descriptor.h"
#include "base/socket.h"
#include "base/thread_executor.h"
#include "bootstrap/exchange.h"
#include "bootstrap/wire.h"

namespace commrig::bootstrap {

// Runs `body(rank)` for every rank on a thread of its own, and waits for all.
inline void run_ranks(ThreadExecutor& executor, int ranks,
                      const std::function<void(int rank)>& body) {
  std::atomic<int> left{ranks};
  for (int rank = 0; rank < ranks; ++rank) {
    const Status spawned = executor.spawn(Role::kUserCode, "rank", [&, rank, &pool = executor] {
      body(rank);
      if (left.fetch_sub(1) == 1) pool.wake(&left);
    });
    ASSERT_TRUE(spawned) << spawned.error().message;
  }
  ASSERT_TRUE(executor.wait({.key = &left, .ready = [&] { return left.load() == 0; }}));
}

// What rank `rank` gives to an exchange: differs for each rank, size and round.
inline std::vector<std::byte> own_block(int rank, std::size_t bytes, int round) {
  std::vector<std::byte> block(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    block[i] = static_cast<std::byte>(static_cast<std::size_t>(rank) * 37 + i * 11 + i / 256 +
                                      static_cast<std::size_t>(round) * 101);
  }
  return block;
}

// One all-gather whose result is compared with what every rank gives; empty, or what is wrong.
inline std::string gather_and_compare(Exchange& exchange, std::size_t bytes, int round) {
  const auto ranks = static_cast<std::size_t>(exchange.ranks());
  std::vector<std::byte> blocks(ranks * bytes, std::byte{0xEE});
  std::vector<std::byte> expected;
  for (int rank = 0; rank < exchange.ranks(); ++rank) {
    const auto block = own_block(rank, bytes, round);
    expected.insert(expected.end(), block.begin(), block.end());
    if (rank == exchange.rank()) {
      std::copy(block.begin(), block.end(), blocks.begin() + rank * static_cast<long>(bytes));
    }
  }
  const Status status = exchange.all_gather(blocks, bytes);
  if (!status) return status.error().message;
  return blocks == expected ? "" : "blocks differ";
}

// Time that a test moves by hand; everything else is real. One thread polls by it.
class HandTime final : public Executor {
 public:
  explicit HandTime(ThreadExecutor& real)
      : real_(real), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void advance(Nanos by) {
    now_.fetch_add(by.count());
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(bell_.get(), &one, sizeof(one)), 8);
  }
  Nanos now() const override { return Nanos(now_.load()); }
  Status poll(const PollSpec& spec) override {
    std::vector<pollfd> all(spec.descriptors.begin(), spec.descriptors.end());
    all.push_back({.fd = bell_.get(), .events = POLLIN, .revents = 0});
    while (true) {
      const bool late = now() >= spec.deadline;
      const Status status = real_.poll({.descriptors = all,
                                        .what = spec.what,
                                        .abort = spec.abort,
                                        .deadline = late ? Nanos{1} : kForever});
      if (!status) return status;
      std::uint64_t rings = 0;
      if (all.back().revents != 0) (void)!::read(bell_.get(), &rings, sizeof(rings));
      bool ready = false;
      for (std::size_t i = 0; i + 1 < all.size(); ++i) ready = ready || all[i].revents != 0;
      if (!ready) continue;
      std::copy(all.begin(), all.end() - 1, spec.descriptors.begin());
      return ok();
    }
  }
  Status spawn(Role role, std::string name, std::function<void()> body) override {
    return real_.spawn(role, std::move(name), std::move(body));
  }
  Status wait(const WaitSpec& spec) override { return real_.wait(spec); }
  void wake(const void* key) override { real_.wake(key); }
  void wake_all() override { real_.wake_all(); }

 private:
  ThreadExecutor& real_;
  Descriptor bell_;
  std::atomic<Nanos::rep> now_{1'000'000};
};

// Bytes as a person writes them: two hexadecimal digits each, blanks between groups.
inline std::vector<std::byte> hex(std::string_view text) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ') continue;
    digits.push_back(c);
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::vector<std::byte> operator+(std::vector<std::byte> left,
                                        const std::vector<std::byte>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// sockaddr_in of 127.0.0.1, in the 28 bytes of the union.
inline std::vector<std::byte> loopback_bytes(std::uint16_t port) {
  auto bytes = hex("02 00 00 00 7f 00 00 01");
  bytes[2] = static_cast<std::byte>(port >> 8U);
  bytes[3] = static_cast<std::byte>(port & 255U);
  bytes.resize(28);
  return bytes;
}

// Rank `rank` of `ranks` as another library would speak it, by hand, on one thread.
class HandRank {
 public:
  HandRank(ThreadExecutor& executor, std::vector<std::byte> handshake)
      : waiting_{executor},
        handshake_(std::move(handshake)),
        answers_(*Listener::open(Address::loopback(AF_INET))),
        ring_(*Listener::open(Address::loopback(AF_INET))) {}

  std::vector<std::byte> check_in_bytes(int rank, int ranks) const {
    auto record = hex("ac 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  01 00 00 00");
    record[4] = static_cast<std::byte>(rank);
    record[8] = static_cast<std::byte>(ranks);
    record = handshake_ + record + loopback_bytes(answers_.address().port()) +
             loopback_bytes(ring_.address().port());
    record.resize(12 + 4 + 172);
    return record;
  }
  // Sends the record and closes, as other libraries do; or keeps the connection.
  Socket check_in(const Address& root, int rank, int ranks) const {
    Socket socket = *connect(root, waiting_);
    EXPECT_TRUE(socket.write_all(check_in_bytes(rank, ranks), "a check-in", waiting_));
    return socket;
  }
  // What the root sends over its connection, to the end.
  std::vector<std::byte> answer() const {
    const auto socket = answers_.accept("the root", waiting_);
    EXPECT_TRUE(socket);
    std::vector<std::byte> all;
    std::byte byte{};
    while (socket->read_all({&byte, 1}, "an answer", waiting_)) all.push_back(byte);
    return all;
  }
  // The error that comes instead of an answer.
  Error refusal() const {
    const auto bytes = answer();
    if (bytes.size() < 17) return Error::make(Code::kBadArgument, "no notice");
    return read_notice(std::span(bytes).subspan(16));
  }
  std::uint16_t ring_port() const { return ring_.address().port(); }

 private:
  Waiting waiting_;
  std::vector<std::byte> handshake_;
  Listener answers_;
  Listener ring_;
};

}  // namespace commrig::bootstrap
