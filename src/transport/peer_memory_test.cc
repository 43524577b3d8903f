// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/peer_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include <gmock/gmock.h>

#include "base/unix_socket.h"

namespace commrig::transport {
namespace {

using testing::HasSubstr;

// Two processes in one: each has its own device memory and its own view of the other's.
class PeerMemoryTest : public testing::Test {
 protected:
  void connect(bool maps_arenas = true, bool reads_host = true) {
    auto ends = unix_pair();
    ASSERT_TRUE(ends.has_value());
    door_ = std::move(*Segment::create("door", 4096));
    new (door_.base()) Door;
    one_ = std::move(*PeerMemory::create({.rank = 2,
                                          .socket = std::move(ends->first),
                                          .memory = &memory_one_,
                                          .door = &door_,
                                          .maps_arenas = maps_arenas,
                                          .reads_host = reads_host}));
    EXPECT_FALSE(*one_->meet());
    two_ = std::move(*PeerMemory::create({.rank = 1,
                                          .socket = std::move(ends->second),
                                          .memory = &memory_two_,
                                          .maps_arenas = maps_arenas,
                                          .reads_host = reads_host}));
    EXPECT_TRUE(*one_->meet());
    EXPECT_TRUE(*two_->meet());
  }
  static std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
  }

  device::Memory memory_one_{device::MemoryOptions{}};
  device::Memory memory_two_{device::MemoryOptions{}};
  Segment door_;
  std::unique_ptr<PeerMemory> one_;  // the first process's view of the second
  std::unique_ptr<PeerMemory> two_;
};

TEST_F(PeerMemoryTest, DeviceMemoryOfThePeerIsSeenAndNotCopied) {
  auto* const before = static_cast<char*>(*memory_two_.allocate(0, 64));
  connect();
  const auto seen = one_->translate(number(before), 64);
  ASSERT_TRUE(seen.has_value());
  EXPECT_NE(number(*seen), number(before));
  std::strcpy(before, "told by its owner");
  EXPECT_STREQ(reinterpret_cast<char*>(*seen), "told by its owner");
  std::strcpy(reinterpret_cast<char*>(*seen), "told by its peer");
  EXPECT_STREQ(before, "told by its peer");
}

TEST_F(PeerMemoryTest, SegmentsThatAppearLaterAreMappedOnDemand) {
  connect();
  auto* const late = static_cast<char*>(*memory_two_.allocate(0, 64));
  const auto early = one_->translate(number(late), 64);
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, Code::kPeerAddress);
  ASSERT_TRUE(two_->share_new().has_value());
  EXPECT_TRUE(one_->translate(number(late), 64).has_value());
  // One larger than a segment needs another one.
  auto* const later = static_cast<char*>(*memory_two_.allocate(0, std::size_t{3} << 30U));
  EXPECT_EQ(memory_two_.segment_count(), 2U);
  ASSERT_TRUE(two_->share_new().has_value());
  EXPECT_TRUE(one_->translate(number(later), std::size_t{3} << 30U).has_value());
}

TEST_F(PeerMemoryTest, AnAddressThatIsNotThePeersIsRefusedWithRankAndSegment) {
  auto* const known = static_cast<char*>(*memory_two_.allocate(0, 64));
  connect();
  const device::ArenaSegment segment = memory_two_.segments_from(0).front();
  for (const std::uint64_t address : {std::uint64_t{0}, number(segment.base) - 1, ~std::uint64_t{0},
                                      number(segment.base) + segment.bytes + 1}) {
    const auto seen = one_->translate(address, 8);
    ASSERT_FALSE(seen.has_value());
    EXPECT_THAT(to_string(seen.error()), HasSubstr("lie in none of the 1 segments that it shares"));
    EXPECT_THAT(to_string(seen.error()), HasSubstr("rank 2: 8 bytes"));
  }
  const auto past = one_->translate(number(known), segment.bytes + 1);
  ASSERT_FALSE(past.has_value());
  EXPECT_THAT(to_string(past.error()), HasSubstr("run past the end of its segment 0"));
  EXPECT_TRUE(one_->translate(number(segment.base) + segment.bytes - 8, 8).has_value());
  EXPECT_FALSE(one_->translate(number(segment.base) + segment.bytes - 8, ~std::size_t{0}));
}

// Whether the system lets a process read its own memory this way, which it forbids last.
bool system_reads_host() {
  char from = 'x';
  char to = ' ';
  const iovec local{&to, 1};
  const iovec remote{&from, 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

TEST_F(PeerMemoryTest, HostMemoryIsReadThroughTheSystemWhereThatLetsUs) {
  connect();
  ASSERT_EQ((one_->ways() & kReadsHost) != 0, system_reads_host());
  if (!system_reads_host()) return;
  const std::string source(100'000, 'x');
  std::string target(source.size(), ' ');
  const auto bytes = std::as_writable_bytes(std::span(target));
  ASSERT_TRUE(one_->read(number(source.data()), bytes).has_value());
  EXPECT_EQ(target, source);
  const Status nowhere = one_->read(16, bytes);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, Code::kPeerAddress);
  EXPECT_THAT(to_string(nowhere.error()), HasSubstr("rank 2 (process "));
  EXPECT_THAT(to_string(nowhere.error()), HasSubstr("at its address 0x10: Bad address"));
}

TEST_F(PeerMemoryTest, EachWayCanBeTurnedOff) {
  connect(false, true);
  EXPECT_EQ(one_->ways() & kReadsArena, 0U);
  connect(true, false);
  EXPECT_EQ(one_->ways(), static_cast<std::uint32_t>(kReadsArena));
  connect(false, false);
  EXPECT_EQ(one_->ways(), 0U);
  EXPECT_FALSE(one_->offers(nullptr, 1, two_->ways()));
}

TEST_F(PeerMemoryTest, OnlyDeviceMemoryIsOfferedToAPeerThatCannotReadAnythingElse) {
  connect(true, false);
  auto* const inside = static_cast<std::byte*>(*memory_two_.allocate(0, 100));
  std::byte outside[100];
  EXPECT_TRUE(two_->offers(inside, 100, one_->ways()));
  EXPECT_FALSE(two_->offers(outside, 100, one_->ways()));
  // What was offered can be read, though its segment is newer than the connection.
  std::byte target[100];
  EXPECT_TRUE(one_->read(number(inside), target).has_value());
}

TEST_F(PeerMemoryTest, GiftsArriveUnderTheirTagAndOnce) {
  connect();
  EXPECT_FALSE(one_->take({1, 2})->has_value());
  Segment segment = std::move(*Segment::create("gift", 10'000));
  std::strcpy(reinterpret_cast<char*>(segment.base()), "gift");
  ASSERT_TRUE(two_->give({1, 2}, segment).has_value());
  segment = Segment();
  EXPECT_FALSE(one_->take({2, 1})->has_value());
  const auto taken = one_->take({1, 2});
  ASSERT_TRUE(taken->has_value());
  EXPECT_EQ((*taken)->bytes(), 10'000U);
  EXPECT_STREQ(reinterpret_cast<char*>((*taken)->base()), "gift");
  EXPECT_FALSE(one_->take({1, 2})->has_value());
}

TEST_F(PeerMemoryTest, TheDoorOfThePeerIsRungByItsWaker) {
  connect();
  EXPECT_EQ(one_->door(), nullptr);
  two_->waker().wake();
  EXPECT_EQ(std::launder(reinterpret_cast<Door*>(door_.base()))->rung.load(), 1U);
  one_->waker().wake();  // It has none; nothing happens.
}

TEST_F(PeerMemoryTest, WhatWasSharedStaysWhenThePeerIsGone) {
  connect();
  auto* const shared = static_cast<char*>(*memory_two_.allocate(0, 64));
  std::strcpy(shared, "last words");
  ASSERT_TRUE(two_->share_new().has_value());
  two_.reset();
  const auto seen = one_->translate(number(shared), 64);
  ASSERT_TRUE(seen.has_value());
  EXPECT_STREQ(reinterpret_cast<char*>(*seen), "last words");
  const auto met = one_->meet();
  ASSERT_FALSE(met.has_value());
  EXPECT_EQ(met.error().code, Code::kPeerLost);
  EXPECT_THAT(to_string(met.error()), HasSubstr("rank 2 (process "));
}

TEST_F(PeerMemoryTest, GarbageOnTheConnectionIsNamed) {
  auto ends = unix_pair();
  ASSERT_TRUE(ends.has_value());
  const auto peer = PeerMemory::create({.rank = 3, .socket = std::move(ends->first)});
  std::byte garbage[64];
  std::memset(garbage, 'G', sizeof(garbage));
  ASSERT_TRUE(ends->second.write_some(garbage).has_value());
  const auto met = (*peer)->meet();
  ASSERT_FALSE(met.has_value());
  EXPECT_EQ(met.error().code, Code::kBadFrame);
  EXPECT_THAT(to_string(met.error()), HasSubstr("magic 0x47474747, expected"));
}

TEST(Segment, IsZeroedAndSharedByItsDescriptor) {
  const Segment one = std::move(*Segment::create("test", 5000));
  one.prefault();
  EXPECT_EQ(one.memory()[4999], std::byte{0});
  const auto two = Segment::map(Descriptor(::dup(one.descriptor())), 5000);
  ASSERT_TRUE(two.has_value());
  one.memory()[4999] = std::byte{7};
  EXPECT_EQ(two->memory()[4999], std::byte{7});
}

TEST(Segment, IsRefusedWhenItIsSmallerThanSaid) {
  const Segment one = std::move(*Segment::create("test", 5000));
  const auto two = Segment::map(Descriptor(::dup(one.descriptor())), 5001);
  ASSERT_FALSE(two.has_value());
  EXPECT_THAT(to_string(two.error()), HasSubstr("has 5000 bytes, and its owner says 5001"));
  EXPECT_NE(::ftruncate(one.descriptor(), 100), 0);  // Nor can it become so.
}

}  // namespace
}  // namespace commrig::transport
