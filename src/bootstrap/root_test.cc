// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
// The protocol byte for byte, with one side written by hand.
#include "bootstrap/root.h"

#include <poll.h>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/guarded.h"
#include "base/log.h"
#include "bootstrap/fixture_for_test.h"
#include "bootstrap/ring.h"

namespace commrig::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMagic = 0x1122334455667788;
const std::vector<std::byte> kHandshake = hex("88 77 66 55 44 33 22 11  01 00 00 00");

std::vector<std::byte> answer_bytes(std::uint16_t ring_port) {
  auto bytes = kHandshake + hex("80 00 00 00") + loopback_bytes(ring_port);
  bytes.resize(12 + 4 + 128);
  return bytes;
}

TEST(Root, AnswersAsSoonAsTheNextRankIsKnown) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const Address at = root->id().root();
  EXPECT_EQ(root->id().magic(), kMagic);
  const HandRank zero(executor, kHandshake);
  const HandRank one(executor, kHandshake);
  const HandRank two(executor, kHandshake);
  (void)zero.check_in(at, 0, 3);
  (void)one.check_in(at, 1, 3);
  EXPECT_EQ(zero.answer(), answer_bytes(one.ring_port()));
  EXPECT_EQ(root->present(), 2);
  (void)two.check_in(at, 2, 3);
  EXPECT_EQ(one.answer(), answer_bytes(two.ring_port()));
  EXPECT_EQ(two.answer(), answer_bytes(zero.ring_port()));
  EXPECT_TRUE(root->wait_served());
}

TEST(Root, OnlyRankIsItsOwnNeighbour) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank zero(executor, kHandshake);
  (void)zero.check_in(root->id().root(), 0, 1);
  EXPECT_EQ(zero.answer(), answer_bytes(zero.ring_port()));
}

TEST(Root, RecordInPiecesIsTakenAndHoldsNobodyUp) {
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank slow(executor, kHandshake);
  const HandRank quick(executor, kHandshake);
  const auto bytes = slow.check_in_bytes(0, 2);
  const Socket socket = *connect(root->id().root(), {executor});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_TRUE(socket.write_all(std::span(bytes).subspan(i, 1), "a byte", {executor}));
    if (i != 100) continue;
    (void)quick.check_in(root->id().root(), 1, 2);
    ASSERT_TRUE(root->wait_present(1));
  }
  EXPECT_EQ(slow.answer(), answer_bytes(quick.ring_port()));
  EXPECT_EQ(quick.answer(), answer_bytes(slow.ring_port()));
}

TEST(Root, SaysHelloAndKeepsTheConnectionOfACheckIn) {
  ThreadExecutor executor;
  auto root = *Root::open(executor, {.magic = kMagic});
  const HandRank zero(executor, kHandshake);
  const Socket kept = zero.check_in(root->id().root(), 0, 2);
  std::vector<std::byte> hello(12);
  ASSERT_TRUE(kept.read_all(hello, "hello", {executor}));
  EXPECT_EQ(hello, kHandshake);
  root.reset();
  std::vector<std::byte> rest(4);
  ASSERT_TRUE(kept.read_all(rest, "a notice", {executor}));
  EXPECT_EQ(std::to_integer<unsigned>(rest[3]), 0x40U);
}

TEST(Root, ServesAThousandRanks) {
  constexpr int kRanks = 1024;
  ThreadExecutor executor;
  const auto root = *Root::open(executor, {.magic = kMagic});
  const Listener answers = *Listener::open(Address::loopback(AF_INET));
  CheckIn record;
  record.ranks = kRanks;
  record.answer_to = answers.address();
  std::vector<Socket> kept;
  for (int i = 0; i < kRanks; ++i) {
    record.rank = i * 389 % kRanks;  // 389 has no divisor in common with the number of ranks
    record.info =
        make_info(Address::loopback(AF_INET, static_cast<std::uint16_t>(1 + record.rank)));
    kept.push_back(*connect(root->id().root(), {executor}));
    ASSERT_TRUE(kept.back().write_all(with_handshake(kMagic, framed(encode(record))), "a check-in",
                                      {executor}));
  }
  std::vector<int> answers_for(kRanks);
  for (int i = 0; i < kRanks; ++i) {
    const Socket socket = *answers.accept("an answer", {executor});
    std::vector<std::byte> bytes(12 + 4 + 128);
    ASSERT_TRUE(socket.read_all(bytes, "an answer", {executor}));
    const unsigned port =
        std::to_integer<unsigned>(bytes[18]) * 256 + std::to_integer<unsigned>(bytes[19]);
    ++answers_for.at(port - 1);
  }
  EXPECT_EQ(answers_for, std::vector<int>(kRanks, 1));
  EXPECT_TRUE(root->wait_served());
}

// A root and the neighbours by hand, around one rank of ours.
TEST(RingRank, SpeaksTheProtocolByteForByte) {
  ThreadExecutor executor;
  const Waiting waiting{executor};
  const Listener root = *Listener::open(Address::loopback(AF_INET));
  const Listener one = *Listener::open(Address::loopback(AF_INET));
  std::vector<std::byte> blocks = hex("a0 a1 a2 a3  00 00 00 00  00 00 00 00");
  const auto by_hand = [&] {
    const Socket line = *root.accept("the rank", waiting);
    std::vector<std::byte> record(12 + 4 + 172);
    ASSERT_TRUE(line.read_all(record, "a check-in", waiting));
    const auto port_at = [&](std::size_t at) {
      return static_cast<std::uint16_t>(std::to_integer<unsigned>(record[at]) * 256 +
                                        std::to_integer<unsigned>(record[at + 1]));
    };
    const std::uint16_t answer_port = port_at(12 + 4 + 16 + 2);
    const std::uint16_t ring_port = port_at(12 + 4 + 44 + 2);
    auto expected = kHandshake +
                    hex("ac 00 00 00  00 00 00 00  03 00 00 00  00 00 00 00  01 00 00 00") +
                    loopback_bytes(answer_port) + loopback_bytes(ring_port);
    expected.resize(record.size());
    EXPECT_EQ(record, expected);

    const Socket answer = *connect(Address::loopback(AF_INET, answer_port), waiting);
    ASSERT_TRUE(answer.write_all(answer_bytes(one.address().port()), "an answer", waiting));
    const Socket from_zero = *one.accept("rank 0", waiting);
    const Socket to_zero = *connect(Address::loopback(AF_INET, ring_port), waiting);
    ASSERT_TRUE(to_zero.write_all(kHandshake, "a handshake", waiting));
    // Blocks: each neighbour gets that of rank 0, and sends its own.
    std::vector<std::byte> got(12 + 4 + 4);
    ASSERT_TRUE(from_zero.read_all(got, "a block", waiting));
    EXPECT_EQ(got, kHandshake + hex("04 00 00 00  a0 a1 a2 a3"));
    got.resize(8);
    ASSERT_TRUE(to_zero.read_all(got, "a block", waiting));
    EXPECT_EQ(got, hex("04 00 00 00  a0 a1 a2 a3"));
    ASSERT_TRUE(from_zero.write_all(hex("04 00 00 00  b0 b1 b2 b3"), "a block", waiting));
    ASSERT_TRUE(to_zero.write_all(hex("04 00 00 00  c0 c1 c2 c3"), "a block", waiting));
  };
  run_ranks(executor, 2, [&](int side) {
    if (side == 1) return by_hand();
    auto ring = join_ring(executor, UniqueId(kMagic, root.address()), 0, 3);
    ASSERT_TRUE(ring) << ring.error().message;
    EXPECT_TRUE((*ring)->all_gather(blocks, 4));
  });
  EXPECT_EQ(blocks, hex("a0 a1 a2 a3  b0 b1 b2 b3  c0 c1 c2 c3"));
}

TEST(RingRank, ChecksInAgainWhenTheRootDropsItsRecordUnread) {
  ThreadExecutor executor;
  const Waiting waiting{executor};
  const Listener root = *Listener::open(Address::loopback(AF_INET));
  const auto by_hand = [&] {
    {
      const Socket dropped = *root.accept("the rank", waiting);
      ASSERT_TRUE(waiting.until(dropped.descriptor(), POLLIN, "a check-in"));
    }
    const Socket line = *root.accept("the rank again", waiting);
    std::vector<std::byte> record(12 + 4 + 172);
    ASSERT_TRUE(line.read_all(record, "a check-in", waiting));
    const auto spoken = decode_check_in(std::span(record).last<kCheckInBytes>());
    const Socket answer = *connect(spoken->answer_to, waiting);
    const auto notice = make_notice(Error::make(Code::kIdUsed, "heard you"));
    ASSERT_TRUE(answer.write_all(with_handshake(kMagic, notice), "a notice", waiting));
  };
  run_ranks(executor, 2, [&](int side) {
    if (side == 1) return by_hand();
    const auto ring = join_ring(executor, UniqueId(kMagic, root.address()), 0, 2);
    EXPECT_THAT(ring.error().message, HasSubstr("heard you"));
  });
}

// Lines of the log from `least` on, as long as it lives.
class LogLines {
 public:
  LogLines(ThreadExecutor& executor, LogLevel least) : before_(set_log_sink(&take)) {
    current().store(this);
    executor_ = &executor;
    least_ = least;
  }
  ~LogLines() { set_log_sink(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  std::vector<std::string> lines() const { return *lines_.lock(); }
  void wait_for(std::size_t count) {
    const Status status =
        executor_->wait({.key = &lines_, .ready = [&] { return lines_.lock()->size() >= count; }});
    EXPECT_TRUE(status);
  }

 private:
  static std::atomic<LogLines*>& current() {
    static std::atomic<LogLines*> lines{nullptr};
    return lines;
  }
  static void take(LogLevel level, std::string_view line) {
    LogLines* const self = current().load();
    if (level < self->least_) return;
    self->lines_.lock()->emplace_back(line);
    self->executor_->wake(&self->lines_);
  }
  LogSink before_;
  ThreadExecutor* executor_ = nullptr;
  LogLevel least_ = LogLevel::kInfo;
  Guarded<std::vector<std::string>> lines_;
};

TEST(Root, MissingRanksAreNamedToEveryRankAtTheDeadline) {
  ThreadExecutor executor;
  HandTime time(executor);
  LogLines log(executor, LogLevel::kError);
  const auto root = *Root::open(time, {.magic = kMagic, .ranks_within = std::chrono::seconds(25)});
  const HandRank zero(executor, kHandshake);
  const HandRank three(executor, kHandshake);
  const HandRank late(executor, kHandshake);
  (void)zero.check_in(root->id().root(), 0, 6);
  (void)three.check_in(root->id().root(), 3, 6);
  ASSERT_TRUE(root->wait_present(2));
  time.advance(std::chrono::seconds(26));
  const std::string text =
      "25 s after the first one, 2 of 6 ranks have checked in; missing: ranks 1-2, 4-5";
  for (const HandRank* rank : {&zero, &three}) {
    const Error error = rank->refusal();
    EXPECT_EQ(error.code, Code::kRankAbsent);
    EXPECT_EQ(error.message, text);
  }
  EXPECT_EQ(root->wait_served().error().code, Code::kRankAbsent);
  (void)late.check_in(root->id().root(), 1, 6);
  EXPECT_EQ(late.refusal().code, Code::kRankAbsent);
  EXPECT_THAT(log.lines(), ElementsAre(HasSubstr("CR-BOOT07: " + text)));
}

TEST(Root, MissingRanksAreLoggedAtEachInterval) {
  ThreadExecutor executor;
  HandTime time(executor);
  LogLines log(executor, LogLevel::kWarning);
  {
    const auto root = *Root::open(time, {.magic = kMagic});
    const HandRank zero(executor, kHandshake);
    (void)zero.check_in(root->id().root(), 0, 2);
    ASSERT_TRUE(root->wait_present(1));
    for (std::size_t count = 1; count <= 3; ++count) {
      time.advance(std::chrono::seconds(9));
      time.advance(std::chrono::seconds(1));
      log.wait_for(count);
    }
  }
  const std::string line = "bootstrap: 1 of 2 ranks have checked in; missing: rank 1";
  EXPECT_THAT(log.lines(), ElementsAre(line, line, line));
}

}  // namespace
}  // namespace commrig::bootstrap
