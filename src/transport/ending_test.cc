// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/ending.h"

#include <gmock/gmock.h>

namespace commrig::transport {
namespace {

using testing::HasSubstr;

TEST(Shape, SaysLengthAndElements) {
  const std::uint64_t sent = shape_of(40, elements_of(dtype::Dtype::kFp64));
  EXPECT_THAT(refused(0, sent, 3, shape_of(8, kUntyped)).message,
              HasSubstr("rank 0 has sent a message of 40 bytes of fp64 to rank 3, which expected 8 "
                        "bytes"));
}

TEST(Shape, ThatAPeerHasInventedIsNoType) {
  EXPECT_THAT(refused(0, ~std::uint64_t{0}, 1, shape_of(1, Elements{200})).message,
              HasSubstr("72057594037927935 bytes of an unknown type to rank 1, which expected 1 "
                        "bytes of an unknown type"));
}

TEST(Agreement, NeedsTheSameLengthAndElementsUnlessOneEndSaysNoType) {
  const Elements number = elements_of(dtype::Dtype::kFp32);
  const Elements other = elements_of(dtype::Dtype::kUint32);
  const Incoming typed{.bytes = 8, .elements = number};
  EXPECT_TRUE(agree(8, number, typed));
  EXPECT_TRUE(agree(8, kUntyped, typed));
  EXPECT_FALSE(agree(8, other, typed));
  EXPECT_FALSE(agree(4, number, typed));
  EXPECT_FALSE(agree(4, kUntyped, typed));
  EXPECT_TRUE(agree(8, other, {.bytes = 8}));
}

}  // namespace
}  // namespace commrig::transport
