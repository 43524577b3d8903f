// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/faces/ranks.h"

namespace commrig::faces {
namespace {

// Every number of the small types, to a float and back.
TEST(SmallFloats, AreTheSameAfterAFloat) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    __half_raw half;
    half.x = static_cast<unsigned short>(bits);
    const float value = __half2float(half);
    if (value == value) {
      EXPECT_EQ(static_cast<__half_raw>(__half(value)).x, bits);
    }
    __nv_bfloat16_raw brain;
    brain.x = static_cast<unsigned short>(bits);
    const float wide = __bfloat162float(brain);
    if (wide == wide) {
      EXPECT_EQ(static_cast<__nv_bfloat16_raw>(__nv_bfloat16(wide)).x, bits);
    }
  }
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    __nv_fp8_e4m3 e4m3;
    e4m3.__x = static_cast<unsigned char>(bits);
    const auto value = static_cast<float>(e4m3);
    if (value == value) {
      EXPECT_EQ(__nv_fp8_e4m3(value).__x, bits);
    }
  }
}

TEST(SmallFloats, RoundToEvenAndSaturate) {
  EXPECT_EQ(static_cast<__half_raw>(__half(1.00048828125F)).x, 0x3C00);  // half way, down to even
  EXPECT_EQ(static_cast<__half_raw>(__half(1.00146484375F)).x, 0x3C02);  // half way, up to even
  EXPECT_EQ(static_cast<__half_raw>(__half(65520.0F)).x, 0x7C00);
  EXPECT_EQ(static_cast<__half_raw>(__half(2.98e-8F)).x, 0x0000);
  EXPECT_EQ(static_cast<__half_raw>(__half(2.99e-8F)).x, 0x0001);
  EXPECT_EQ(__nv_fp8_e4m3(1e9F).__x, 0x7E);
  EXPECT_EQ(__nv_fp8_e5m2(-1e9F).__x, 0xFB);
  EXPECT_EQ(static_cast<__nv_bfloat16_raw>(__nv_bfloat16(1.00390625F)).x, 0x3F80);
}

}  // namespace
}  // namespace commrig::faces
