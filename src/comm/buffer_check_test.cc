// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/buffer_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::comm {
namespace {

using testing::HasSubstr;

class BufferCheckTest : public testing::Test {
 protected:
  std::string check(const void* buffer, std::size_t count) {
    const Call call{.collective = coll::Collective::kAllReduce, .dtype = dtype::Dtype::kFp32};
    const Status status = check_buffer(memory_, call, buffer, count, "input");
    return status ? "ok" : to_string(status.error());
  }
  float* allocate(std::size_t count) {
    return static_cast<float*>(*memory_.allocate(0, count * sizeof(float)));
  }

  device::Memory memory_{device::MemoryOptions{}};
};

TEST_F(BufferCheckTest, AFreedOneIsNamed) {
  float* const buffer = allocate(256);
  EXPECT_EQ(check(buffer, 256), "ok");
  EXPECT_EQ(check(buffer + 16, 8), "ok");
  ASSERT_TRUE(memory_.release(buffer));
  EXPECT_THAT(check(buffer, 256), HasSubstr("input of all-reduce, 256 fp32: "));
  EXPECT_THAT(check(buffer + 16, 8), HasSubstr("freed"));
}

TEST_F(BufferCheckTest, AllElementsMustBeInside) {
  float* const buffer = allocate(256);
  EXPECT_EQ(check(buffer, 256), "ok");
  EXPECT_THAT(check(buffer, 257), HasSubstr("CR-MEM03"));
  EXPECT_EQ(check(buffer + 200, 56), "ok");
  EXPECT_THAT(check(buffer + 200, 57), HasSubstr("CR-MEM03"));
}

TEST_F(BufferCheckTest, HostMemoryIsTakenAsItIs) {
  const std::vector<float> buffer(100);
  EXPECT_EQ(check(buffer.data(), 100), "ok");
}

TEST_F(BufferCheckTest, NullAndMisalignedOnesAreNamed) {
  EXPECT_THAT(check(nullptr, 1), HasSubstr("null"));
  EXPECT_EQ(check(nullptr, 0), "ok");
  const std::vector<float> buffer(100);
  const auto* const odd = reinterpret_cast<const char*>(buffer.data()) + 2;
  EXPECT_EQ(check(buffer.data(), 100), "ok");
  EXPECT_THAT(check(odd, 10), HasSubstr("is no multiple of 4"));
}

}  // namespace
}  // namespace commrig::comm
