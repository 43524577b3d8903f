// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "device/remote.h"

#include <gtest/gtest.h>

namespace commrig::device {
namespace {

class RemoteKeysTest : public testing::Test {
 protected:
  Memory memory_{MemoryOptions{.devices = 2}};
  RemoteKeys keys_;
  void* first_ = *memory_.allocate(0, 4096);
  void* second_ = *memory_.allocate(1, 4096);

  static std::uint64_t address(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }
};

TEST_F(RemoteKeysTest, KeyAndAddressReachTheWindowThatWasOpened) {
  const std::uint32_t key = keys_.open(*memory_.resolve(second_, 4096));
  const Result<Window> found = keys_.resolve(key, address(second_) + 64, 128, 8);
  ASSERT_TRUE(found.has_value()) << to_string(found.error());
  EXPECT_EQ(found->base(), static_cast<std::byte*>(second_) + 64);
  EXPECT_EQ(found->bytes(), 128U);
}

TEST_F(RemoteKeysTest, KeyOfOneWindowDoesNotOpenAnother) {
  const std::uint32_t one = keys_.open(*memory_.resolve(first_, 4096));
  const std::uint32_t other = keys_.open(*memory_.resolve(second_, 4096));
  EXPECT_NE(one, other);
  EXPECT_EQ(keys_.resolve(one, address(second_), 8).error().code, Code::kOutOfRange);
  EXPECT_EQ(keys_.resolve(other, address(first_), 8).error().code, Code::kOutOfRange);
}

TEST_F(RemoteKeysTest, WhatIsNotOpenedIsRefusedByName) {
  const std::uint32_t key = keys_.open(*memory_.resolve(first_, 2048));
  EXPECT_EQ(keys_.resolve(key + 1, address(first_), 8).error().code, Code::kUnknownKey);
  EXPECT_EQ(keys_.resolve(0, address(first_), 8).error().code, Code::kUnknownKey);
  EXPECT_EQ(keys_.resolve(key, address(first_) + 2048, 1).error().code, Code::kOutOfRange);
  EXPECT_EQ(keys_.resolve(key, address(first_) + 4, 8, 8).error().code, Code::kMisaligned);
  ASSERT_TRUE(memory_.release(first_));
  EXPECT_EQ(keys_.resolve(key, address(first_), 8).error().code, Code::kFreedPointer);
  keys_.close(key);
  EXPECT_EQ(keys_.resolve(key, address(first_), 8).error().code, Code::kUnknownKey);
}

}  // namespace
}  // namespace commrig::device
