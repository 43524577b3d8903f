// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/conformance/link_suite.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/rng.h"
#include "transport/kinds.h"

namespace commrig::transport {
namespace {

using testing::HasSubstr;

std::string text(const Status& status) {
  return status ? "ok" : to_string(status.error());
}
Code code(const Status& status) {
  return status ? Code::kBadArgument : status.error().code;
}

TEST_P(LinkTest, ItsKindStandsInTheTable) {
  EXPECT_NE(find_link_kind(a().kind()), nullptr) << a().kind();
}

TEST_P(LinkTest, LeavesNoDescriptorsAndNoMappings) {
  const auto count_lines = [](const char* path, const char* word) {
    std::ifstream file(path);
    int count = 0;
    for (std::string line; std::getline(file, line);) count += line.find(word) != line.npos;
    return count;
  };
  const auto count = [&] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::pair(std::distance(begin(all), end(all)),
                     count_lines("/proc/self/maps", "memfd:commrig"));
  };
  world_.reset();
  const auto before = count();
  world_ = GetParam().make(wakers_[0], wakers_[1]);
  const Bytes source = pattern(9, 100'000);
  Bytes target(source.size());
  EXPECT_EQ(text(pass(source, target)), "ok");
  world_.reset();
  EXPECT_EQ(count(), before);
}

TEST_P(LinkTest, EverySizeArrivesWholeFromAndToAnyAddress) {
  for (const std::size_t size : telling_sizes()) {
    for (const std::size_t shift : std::initializer_list<std::size_t>{1, 0, 3}) {
      if (shift != 1 && size > 1'000'000) continue;
      const Bytes source = pattern(size + shift, size + shift);
      Bytes target(size + 16, std::byte{0x55});
      const Status status =
          pass(std::span(source).subspan(shift), std::span(target).subspan(8 - shift, size));
      ASSERT_TRUE(status.has_value()) << text(status);
      ASSERT_TRUE(std::equal(source.begin() + static_cast<std::ptrdiff_t>(shift), source.end(),
                             target.begin() + static_cast<std::ptrdiff_t>(8 - shift)))
          << size << " bytes, shifted by " << shift;
      const std::size_t end = 8 - shift + size;
      EXPECT_EQ(target[7 - shift], std::byte{0x55});
      EXPECT_EQ(target[end], std::byte{0x55});
    }
  }
}

TEST_P(LinkTest, ManySmallMessagesThenALargeOneArriveInOrder) {
  constexpr std::uint32_t kMessages = 1000;
  const Bytes large = pattern(1, 3'000'000);
  Bytes received(large.size());
  driver_b().run({
      [&] {
        for (std::uint32_t i = 0; i < kMessages; ++i) {
          const Status status = driver_a().send(a(), std::as_bytes(std::span(&i, 1)));
          ASSERT_TRUE(status.has_value()) << text(status);
        }
        EXPECT_EQ(text(driver_a().send(a(), world_->place(0, large))), "ok");
      },
      [&] {
        for (std::uint32_t i = 0; i < kMessages; ++i) {
          std::uint32_t found = ~i;
          const Status status = driver_b().recv(b(), std::as_writable_bytes(std::span(&found, 1)));
          ASSERT_TRUE(status.has_value()) << text(status);
          ASSERT_EQ(found, i);
        }
        EXPECT_EQ(text(driver_b().recv(b(), received)), "ok");
      },
  });
  EXPECT_EQ(received, large);
}

TEST_P(PairLinkTest, BothDirectionsMoveAtOnceAndEachHasAThreadOfItsOwn) {
  constexpr int kRounds = 20;
  const Bytes there = pattern(1, 700'000);
  const Bytes back = pattern(2, 300'001);
  const auto send = [&](Driver& driver, Link& link, const Bytes& drawn) {
    return [&] {
      const auto bytes = world_->place(&link == &a() ? 0 : 1, drawn);
      for (int i = 0; i < kRounds; ++i) EXPECT_EQ(text(driver.send(link, bytes)), "ok");
    };
  };
  const auto recv = [&](Driver& driver, Link& link, const Bytes& bytes) {
    return [&] {
      for (int i = 0; i < kRounds; ++i) {
        Bytes received(bytes.size());
        EXPECT_EQ(text(driver.recv(link, received)), "ok");
        EXPECT_EQ(received, bytes);
      }
    };
  };
  driver_a().run({send(driver_a(), a(), there), recv(driver_a(), a(), back),
                  send(driver_b(), b(), back), recv(driver_b(), b(), there)});
}

TEST_P(PairLinkTest, RanksThatTakeTurnsWakeEachOther) {
  for (const std::size_t size : std::initializer_list<std::size_t>{8, 40'000}) {
    const auto play = [&](Driver& driver, Link& link, bool starts) {
      Bytes bytes = pattern(3, size);
      const auto placed = world_->place(starts ? 0 : 1, bytes);
      for (int round = 0; round < 50; ++round) {
        Status status = starts ? driver.send(link, placed) : ok();
        if (status) status = driver.recv(link, bytes);
        if (status && !starts) status = driver.send(link, placed);
        ASSERT_EQ(text(status), "ok");
      }
      EXPECT_EQ(bytes, pattern(3, size));
    };
    driver_a().run({[&] { play(driver_a(), a(), true); }, [&] { play(driver_b(), b(), false); }});
  }
}

TEST_P(LinkTest, TheSenderMayOverwriteItsBytesOnceTheyAreSent) {
  for (const std::size_t size : std::initializer_list<std::size_t>{100, 50'000}) {
    const Bytes original = pattern(4, size);
    Bytes source = original;
    Bytes target(size);
    Outgoing out{.data = source.data(), .bytes = size};
    Incoming in{.data = target.data(), .bytes = size};
    bool received = false;
    ASSERT_EQ(text(driver_a().until_done([&]() -> Result<Progress> {
                COMMRIG_ASSIGN(const Progress progress, a().send(out));
                if (progress == Progress::kDone || received) return progress;
                COMMRIG_ASSIGN(const Progress other, b().recv(in));
                received = other == Progress::kDone;
                wakers_[0].wake();  // This thread drives both ends and sleeps at one door.
                return progress;
              })),
              "ok");
    std::ranges::fill(source, std::byte{0xEE});
    if (!received) {
      ASSERT_EQ(text(driver_b().until_done([&] { return b().recv(in); })), "ok");
    }
    EXPECT_EQ(target, original);
  }
}

TEST_P(LinkTest, ADifferenceInLengthIsNamedOnBothEndsAndNothingIsDelivered) {
  const std::pair<std::size_t, std::size_t> lengths[] = {
      {100, 64}, {0, 8}, {8, 0}, {100'000, 99'999}, {5'000, 1'000'000}};
  for (const auto& [sent, expected] : lengths) {
    world_.reset();
    world_ = GetParam().make(wakers_[0], wakers_[1]);
    const Bytes source = pattern(5, sent);
    Bytes target(expected, std::byte{0x55});
    Outgoing out{.data = source.data(), .bytes = sent};
    (void)a().send(out);
    const Status received = driver_b().recv(b(), target);
    EXPECT_EQ(code(received), Code::kMessageLength);
    EXPECT_THAT(text(received), HasSubstr(fmt::format("rank 0 has sent a message of {} bytes to "
                                                      "rank {}, which expected {} bytes",
                                                      sent, GetParam().loops ? 0 : 1, expected)));
    EXPECT_EQ(target, Bytes(expected, std::byte{0x55}));
    EXPECT_EQ(text(driver_b().recv(b(), target)), text(received));
    if (GetParam().loops) continue;
    // The other end learns it too, with the same words.
    std::byte byte{};
    EXPECT_EQ(text(driver_a().recv(a(), {&byte, 1})), text(received));
    const Status later = driver_a().until_done([&] { return a().send(out); });
    EXPECT_EQ(code(later), Code::kMessageLength);
  }
}

TEST_P(LinkTest, ADifferenceInElementsIsNamedOnBothEndsAndNothingIsDelivered) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{1'000'000}}) {
    world_.reset();
    world_ = GetParam().make(wakers_[0], wakers_[1]);
    const Bytes source = pattern(6, size);
    Bytes target(size, std::byte{0x55});
    Outgoing out{
        .data = source.data(), .bytes = size, .elements = elements_of(dtype::Dtype::kFp32)};
    Incoming in{
        .data = target.data(), .bytes = size, .elements = elements_of(dtype::Dtype::kInt32)};
    (void)a().send(out);
    const Status received = driver_b().until_done([&] { return b().recv(in); });
    EXPECT_EQ(code(received), Code::kMessageLength);
    EXPECT_THAT(text(received),
                HasSubstr(fmt::format("rank 0 has sent a message of {0} bytes of fp32 to rank {1}, "
                                      "which expected {0} bytes of int32",
                                      size, GetParam().loops ? 0 : 1)));
    EXPECT_EQ(target, Bytes(size, std::byte{0x55}));
    if (GetParam().loops) continue;
    std::byte byte{};
    EXPECT_EQ(text(driver_a().recv(a(), {&byte, 1})), text(received));
  }
}

TEST_P(LinkTest, BytesOfNoTypeAgreeWithElementsOfAny) {
  for (const Elements typed :
       {elements_of(dtype::Dtype::kInt8), elements_of(dtype::Dtype::kFp64)}) {
    for (const bool sender_says : {false, true}) {
      const Bytes source = pattern(7, 64);
      Bytes target(64);
      Outgoing out{.data = source.data(), .bytes = 64, .elements = sender_says ? typed : kUntyped};
      Incoming in{.data = target.data(), .bytes = 64, .elements = sender_says ? kUntyped : typed};
      ASSERT_EQ(text(driver_a().until_done([&] { return a().send(out); })), "ok");
      ASSERT_EQ(text(driver_b().until_done([&] { return b().recv(in); })), "ok");
      EXPECT_EQ(target, source);
    }
  }
}

TEST_P(LinkTest, AnAbortFromAnotherThreadEndsBothEndsInTheMiddleOfAnything) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, std::size_t{30} << 20U}) {
    world_.reset();
    world_ = GetParam().make(wakers_[0], wakers_[1]);
    const Bytes source(size);
    Bytes target(size + 1);
    std::atomic<int> begun{0};
    // Sends until it fails, for the first message may still fit into a buffer on the way.
    const auto send = [&](Driver& driver, Link& link) {
      Status status = ok();
      begun.fetch_add(1);
      while (status) status = driver.send(link, source);
      EXPECT_EQ(code(status), Code::kAborted) << text(status);
      EXPECT_EQ(code(driver.send(link, source)), Code::kAborted);
    };
    const auto recv = [&](Driver& driver, Link& link) {
      begun.fetch_add(1);
      const Status status = driver.recv(link, target);
      EXPECT_EQ(code(status), Code::kAborted) << text(status);
      EXPECT_EQ(code(driver.recv(link, target)), Code::kAborted);
    };
    const auto abort = [&] {
      while (begun.load() < 2) ::sched_yield();
      a().abort();
    };
    // b receives nothing that a sends, so a's send may hang until the abort.
    if (GetParam().loops) {
      driver_a().run({[&] { recv(driver_a(), a()); }, [&] { begun.fetch_add(1); }, abort});
      continue;
    }
    driver_a().run({[&] { send(driver_a(), a()); }, [&] { recv(driver_a(), a()); }, abort});
    // b has slept, or not; what a had sent whole doesn't come any more, or is refused.
    Status status = ok();
    while (status) status = driver_b().recv(b(), std::span(target).first(size));
    EXPECT_EQ(code(status), Code::kAborted) << text(status);
    send(driver_b(), b());
  }
}

TEST_P(PairLinkTest, AnAbortWakesAPeerThatSleeps) {
  std::atomic<int> begun{0};
  const auto recv = [&](Driver& driver, Link& link) {
    std::byte byte{};
    begun.fetch_add(1);
    EXPECT_EQ(code(driver.recv(link, {&byte, 1})), Code::kAborted);
  };
  driver_a().run({[&] { recv(driver_a(), a()); }, [&] { recv(driver_b(), b()); },
                  [&] {
                    while (begun.load() < 2) ::sched_yield();
                    b().abort();
                  }});
}

TEST_P(PairLinkTest, WhoWasLostIsKnownFromAPeerThatIsGoneItself) {
  constexpr int kLost = 7;
  const Bytes source = pattern(4, 3000);
  b().abort(kLost);
  driver_a().run({[&] { world_->close_b(); },
                  [&] {
                    Status status = ok();
                    for (int i = 0; i < 1000 && status; ++i) status = driver_a().send(a(), source);
                    EXPECT_FALSE(status.has_value());
                    EXPECT_EQ(a().lost_rank(), kLost);
                    EXPECT_FALSE(driver_a().send(a(), source).has_value());
                    EXPECT_EQ(a().lost_rank(), kLost);
                  }});
}

TEST_P(PairLinkTest, APeerThatClosesIsNamedAfterWhatItHasSentWasDelivered) {
  const Bytes source = pattern(7, 3000);
  ASSERT_EQ(text(driver_b().send(b(), source)), "ok");
  ASSERT_EQ(text(driver_b().send(b(), {})), "ok");
  driver_a().run({[&] { world_->close_b(); },
                  [&] {
                    Bytes target(source.size());
                    EXPECT_EQ(text(driver_a().recv(a(), target)), "ok");
                    EXPECT_EQ(target, source);
                    EXPECT_EQ(text(driver_a().recv(a(), {})), "ok");
                    const Status status = driver_a().recv(a(), target);
                    EXPECT_EQ(code(status), Code::kPeerLost);
                    EXPECT_THAT(text(status), HasSubstr("rank 1 ("));
                    EXPECT_EQ(code(driver_a().recv(a(), target)), Code::kPeerLost);
                  }});
  Status sent = ok();
  for (int i = 0; i < 1000 && sent; ++i) sent = driver_a().send(a(), source);
  EXPECT_EQ(code(sent), Code::kPeerLost) << text(sent);
}

TEST_P(PairLinkTest, ALostPeerFailsBothDirectionsAfterWhatHadArrived) {
  const Bytes source = pattern(8, 500);
  ASSERT_EQ(text(driver_b().send(b(), source)), "ok");
  const Error error = Error::make(Code::kPeerLost, "rank 1 was killed by signal 9");
  std::atomic<bool> waiting{false};
  driver_a().run({[&] {
                    Bytes target(source.size());
                    EXPECT_EQ(text(driver_a().recv(a(), target)), "ok");
                    EXPECT_EQ(target, source);
                    waiting = true;
                    EXPECT_EQ(text(driver_a().recv(a(), target)), to_string(error));
                    EXPECT_EQ(text(driver_a().send(a(), target)), to_string(error));
                  },
                  [&] {
                    while (!waiting) ::sched_yield();
                    a().lose(error);
                  }});
}

TEST_P(PairLinkTest, RandomTrafficArrivesAsTheModelSays) {
  const std::uint64_t seed = seed_from_environment(20'251'201);
  SCOPED_TRACE(testing::Message() << "COMMRIG_SEED=" << seed);
  driver_a().run(
      {[&] { EXPECT_EQ(text(random_traffic(driver_a(), a(), 0, seed, placing(0))), "ok"); },
       [&] { EXPECT_EQ(text(random_traffic(driver_b(), b(), 1, seed, placing(1))), "ok"); }});
}

}  // namespace
}  // namespace commrig::transport
