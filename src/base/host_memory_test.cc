// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace commrig {
namespace {

// Three pages: one that may be read and written, one that may only be read, and one without rights.
class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    void* const start =
        ::mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(start, MAP_FAILED);
    pages_ = static_cast<std::byte*>(start);
    EXPECT_EQ(::mprotect(pages_ + page_, page_, PROT_READ), 0);
    EXPECT_EQ(::mprotect(pages_ + 2 * page_, page_, PROT_NONE), 0);
  }
  ~HostMemoryTest() override { ::munmap(pages_, 3 * page_); }

  static bool readable(const void* start, std::size_t bytes) {
    return check_host_memory(start, bytes, HostAccess::kRead).has_value();
  }
  static bool writable(const void* start, std::size_t bytes) {
    return check_host_memory(start, bytes, HostAccess::kWrite).has_value();
  }

  const std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::byte* pages_ = nullptr;
};

TEST_F(HostMemoryTest, RangesAreUsableAsFarAsTheirPagesAre) {
  EXPECT_TRUE(writable(pages_, page_));
  EXPECT_TRUE(writable(pages_ + page_ - 1, 1));
  EXPECT_FALSE(writable(pages_ + page_ - 1, 2));
  EXPECT_TRUE(readable(pages_ + 7, 2 * page_ - 7));
  EXPECT_FALSE(readable(pages_, 2 * page_ + 1));
  EXPECT_FALSE(readable(pages_ + 2 * page_, 1));
}

TEST_F(HostMemoryTest, StackHeapAndConstantsAreReadable) {
  static const int kConstant = 7;
  int local = 0;
  std::vector<int> heap(1 << 20);
  EXPECT_TRUE(readable(&kConstant, sizeof(kConstant)));
  EXPECT_TRUE(writable(&local, sizeof(local)));
  EXPECT_TRUE(writable(heap.data(), heap.size() * sizeof(int)));
}

TEST_F(HostMemoryTest, CheckingChangesNoByte) {
  pages_[0] = std::byte{42};
  ASSERT_TRUE(writable(pages_, page_));
  EXPECT_EQ(pages_[0], std::byte{42});
}

TEST_F(HostMemoryTest, WildPointersAreNamed) {
  const auto* const wild = reinterpret_cast<const void*>(std::uintptr_t{0x10});
  const Status status = check_host_memory(wild, 40, HostAccess::kRead);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kHostRange);
  EXPECT_EQ(status.error().message, "40 bytes at 0x10, which this process cannot read");
  EXPECT_FALSE(writable(reinterpret_cast<const void*>(~std::uintptr_t{0xFFFF}), 4));
}

TEST_F(HostMemoryTest, RangesThatWrapAroundAreRefused) {
  EXPECT_FALSE(readable(pages_, SIZE_MAX));
  EXPECT_FALSE(readable(pages_, SIZE_MAX - reinterpret_cast<std::uintptr_t>(pages_)));
  EXPECT_FALSE(readable(reinterpret_cast<const void*>(UINTPTR_MAX), 1));
}

TEST_F(HostMemoryTest, NoBytesAreFineAnywhere) {
  EXPECT_TRUE(writable(nullptr, 0));
  EXPECT_TRUE(writable(pages_ + 2 * page_, 0));
}

}  // namespace
}  // namespace commrig
