// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/memory.h"

#include <cstring>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace commrig::device {
namespace {

using testing::HasSubstr;

std::byte* allocate(Memory& memory, std::size_t bytes, int device = 0) {
  Result<void*> result = memory.allocate(device, bytes);
  EXPECT_TRUE(result.has_value());
  return static_cast<std::byte*>(result.value_or(nullptr));
}

TEST(Memory, AllocatesAlignedWritableMemoryOnEveryDevice) {
  Memory memory({.devices = 3});
  for (int device = 0; device < 3; ++device) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{511}, std::size_t{4096}, std::size_t{3'000'000}}) {
      std::byte* const base = allocate(memory, bytes, device);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % 512, 0U);
      std::memset(base, 1, bytes);
      EXPECT_TRUE(memory.is_device_address(base));
    }
    EXPECT_EQ(memory.used_bytes(device), 1U + 511 + 4096 + 3'000'000);
  }
}

TEST(Memory, UnknownPointerIsNamedAndItsNeighbourToo) {
  Memory memory({});
  const int on_the_host = 0;
  EXPECT_EQ(memory.resolve(&on_the_host, 4).error().code, Code::kUnknownPointer);
  EXPECT_EQ(memory.resolve(nullptr, 4).error().code, Code::kUnknownPointer);
  std::byte* const base = allocate(memory, 1000);
  const Error behind = memory.resolve(base + 1004, 4).error();
  EXPECT_EQ(behind.code, Code::kUnknownPointer);
  EXPECT_THAT(behind.message,
              HasSubstr("4 bytes behind the end of allocation #1 (1000 bytes on device 0"));
}

TEST(Memory, RangeThatRunsPastTheEndNamesAllocationOffsetAndSize) {
  Memory memory({});
  std::byte* const base = allocate(memory, 1000);
  EXPECT_TRUE(memory.resolve(base + 990, 10).has_value());
  const Error error = memory.resolve(base + 990, 11).error();
  EXPECT_EQ(error.code, Code::kOutOfRange);
  EXPECT_THAT(error.message,
              HasSubstr("11 bytes at offset 990 of allocation #1 (1000 bytes on device 0"));
  EXPECT_THAT(error.message, HasSubstr("memory_test.cc:"));
  EXPECT_EQ(memory.resolve(base + 8, SIZE_MAX).error().code, Code::kOutOfRange);
}

TEST(Memory, AnAllocationWithoutAPlaceNamesNone) {
  Memory memory({});
  auto* const base = static_cast<std::byte*>(*memory.allocate(0, 8, std::source_location()));
  const Error error = memory.resolve(base, 9).error();
  EXPECT_THAT(error.message, HasSubstr("allocation #1 (8 bytes on device 0);"));
}

TEST(Memory, MisalignedElementIsRefused) {
  Memory memory({});
  std::byte* const base = allocate(memory, 64);
  EXPECT_TRUE(memory.resolve(base + 8, 8, 8).has_value());
  EXPECT_EQ(memory.resolve(base + 4, 8, 8).error().code, Code::kMisaligned);
}

TEST(Memory, FreedMemoryIsKnownAsFreedAndNotReusedSoon) {
  Memory memory({});
  std::byte* const base = allocate(memory, 100'000);
  const Window window = *memory.resolve(base, 100'000);
  ASSERT_TRUE(memory.release(base).has_value());
  EXPECT_EQ(memory.used_bytes(0), 0U);
  EXPECT_EQ(memory.resolve(base + 5, 1).error().code, Code::kFreedPointer);
  EXPECT_FALSE(window.permits(0, 1, 1));
  EXPECT_EQ(window.refusal(0, 1, 1).code, Code::kFreedPointer);
  EXPECT_NE(allocate(memory, 100'000), base);
}

TEST(Memory, WrongFreesAreToldApart) {
  Memory memory({});
  std::byte* const base = allocate(memory, 64);
  int on_the_host = 0;
  EXPECT_EQ(memory.release(&on_the_host).error().code, Code::kUnknownPointer);
  EXPECT_EQ(memory.release(base + 8).error().code, Code::kNotAllocationStart);
  EXPECT_TRUE(memory.release(base).has_value());
  EXPECT_EQ(memory.release(base).error().code, Code::kFreedTwice);
}

TEST(Memory, CapacityAndBadRequestsAreErrors) {
  Memory memory({.devices = 2, .bytes_per_device = 10'000});
  EXPECT_EQ(memory.allocate(2, 1).error().code, Code::kBadDevice);
  EXPECT_EQ(memory.allocate(-1, 1).error().code, Code::kBadDevice);
  EXPECT_EQ(memory.allocate(0, 0).error().code, Code::kZeroSize);
  std::byte* const base = allocate(memory, 8'000);
  EXPECT_EQ(memory.allocate(0, 3'000).error().code, Code::kOutOfMemory);
  EXPECT_TRUE(memory.allocate(1, 3'000).has_value());
  EXPECT_TRUE(memory.release(base).has_value());
  EXPECT_TRUE(memory.allocate(0, 3'000).has_value());
}

TEST(Memory, QuarantinedRangesComeBackWhenItIsFull) {
  Memory memory({.quarantine_bytes = 4096, .quarantine_allocations = 4});
  std::set<std::byte*> seen;
  bool reused = false;
  for (int i = 0; i < 64 && !reused; ++i) {
    std::byte* const base = allocate(memory, 512);
    reused = !seen.insert(base).second;
    ASSERT_TRUE(memory.release(base).has_value());
  }
  EXPECT_TRUE(reused);
}

TEST(Memory, RandomAllocationsNeverOverlapAndKeepTheirContents) {
  const std::uint64_t seed = seed_from_environment(11);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  Memory memory({.quarantine_bytes = 1 << 20, .quarantine_allocations = 8});
  struct Piece {
    std::byte* base;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 2000; ++i) {
    if (pieces.empty() || rng.below(3) != 0) {
      const std::size_t bytes = 1 + rng.below(rng.below(10) == 0 ? 300'000 : 3'000);
      const auto mark = static_cast<unsigned char>(rng.below(256));
      std::byte* const base = allocate(memory, bytes);
      std::memset(base, mark, bytes);
      pieces.push_back({base, bytes, mark});
    } else {
      const std::size_t which = rng.below(pieces.size());
      const Piece piece = pieces[which];
      for (const std::size_t offset : {std::size_t{0}, piece.bytes / 2, piece.bytes - 1}) {
        ASSERT_EQ(static_cast<unsigned char>(piece.base[offset]), piece.mark);
      }
      ASSERT_TRUE(memory.release(piece.base).has_value());
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

// 47 GiB of windows cost address space only. A machine has less than that.
TEST(Memory, ManyLargeWindowsTakeNoPagesUntilTheyAreTouched) {
  constexpr std::size_t kWindow = std::size_t{184} << 20U;
  Memory memory({.devices = 256});
  std::vector<void*> windows;
  for (int device = 0; device < 256; ++device) {
    windows.push_back(*memory.allocate(device, kWindow));
    ASSERT_TRUE(memory.clear(windows.back()));
  }
  for (void* const window : windows) {
    auto* const bytes = static_cast<unsigned char*>(window);
    bytes[kWindow - 1] = 1;
    EXPECT_EQ(bytes[0], 0);
  }
  for (void* const window : windows) ASSERT_TRUE(memory.release(window));
}

TEST(Memory, ClearedMemoryReadsAsZeros) {
  Memory memory({});
  for (const std::size_t bytes : {1U, 100U, 4096U, 65536U, 65537U, 3U << 20U, (3U << 20U) + 5}) {
    auto* const start = static_cast<unsigned char*>(*memory.allocate(0, bytes));
    std::fill_n(start, bytes, 0xAB);
    ASSERT_TRUE(memory.clear(start));
    EXPECT_EQ(std::count(start, start + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
  }
  int foreign = 0;
  EXPECT_EQ(memory.clear(&foreign).error().code, Code::kUnknownPointer);
}

TEST(Memory, PrefaultingKeepsWhatIsThere) {
  Memory memory({});
  const std::size_t bytes = (5U << 20U) + 123;
  auto* const start = static_cast<unsigned char*>(*memory.allocate(0, bytes));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start) % Arena::kHugePage, 0U);
  start[0] = 1;
  start[bytes - 1] = 2;
  Memory::prefault(*memory.resolve(start, bytes));
  EXPECT_EQ(start[0], 1);
  EXPECT_EQ(start[bytes - 1], 2);
  EXPECT_EQ(start[bytes / 2], 0);
}

}  // namespace
}  // namespace commrig::device
