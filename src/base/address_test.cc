// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/address.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/interfaces.h"

namespace commrig {
namespace {

using testing::HasSubstr;

TEST(Address, TextsAreReadAndWrittenAlike) {
  for (const char* text : {"192.0.2.1:80", "0.0.0.0:0", "127.0.0.1:65535", "[::1]:1",
                           "[2001:db8::5:6]:4711", "[fe80::1%7]:9"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), text);
  }
}

TEST(Address, MalformedTextsAreRefusedWithTheReason) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& each :
       {Case{"", "no port"}, Case{"192.0.2.1", "no port"}, Case{"192.0.2.1:", "no number"},
        Case{"192.0.2.1:x", "no number"}, Case{"192.0.2.1:65536", "no number"},
        Case{"192.0.2.1:-1", "no number"}, Case{"192.0.2:80", "no IPv4 address"},
        Case{"::1:80", "in brackets"}, Case{"[::1:80", "not closed"},
        Case{"[1.2.3.4]:80", "no IPv6"}, Case{"[fe80::1%none0]:80", "no such interface"}}) {
    const auto address = Address::parse(each.text);
    ASSERT_FALSE(address) << each.text;
    EXPECT_EQ(address.error().code, Code::kBadAddress);
    EXPECT_THAT(address.error().message, HasSubstr(each.reason));
  }
}

TEST(Address, WireBytesAreTheSystemsOwn) {
  const Address v4 = *Address::parse("1.2.3.4:258");
  Address::Wire wire{};
  wire[0] = std::byte{AF_INET};
  wire[2] = std::byte{1};  // port, high byte first
  wire[3] = std::byte{2};
  for (unsigned char i = 0; i < 4; ++i) wire[4 + i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(v4.wire(), wire);
  EXPECT_EQ(*Address::from_wire(wire), v4);
  const Address v6 = *Address::parse("[fe80::1%7]:9");
  EXPECT_EQ(*Address::from_wire(v6.wire()), v6);
}

TEST(Address, WireBytesThatAreNoAddressAreRefused) {
  Address::Wire wire{};
  EXPECT_EQ(Address::from_wire(wire).error().code, Code::kBadAddress);
  wire = Address::parse("1.2.3.4:5")->wire();
  for (const std::size_t at : {8U, 15U, 16U, 27U}) {
    auto stray = wire;
    stray[at] = std::byte{1};
    EXPECT_THAT(Address::from_wire(stray).error().message, HasSubstr("must be 0")) << at;
  }
  wire = Address::parse("[::1]:5")->wire();
  wire[7] = std::byte{0x80};  // flow label
  EXPECT_THAT(Address::from_wire(wire).error().message, HasSubstr("must be 0"));
}

TEST(Address, KindsAreKnown) {
  EXPECT_TRUE(Address::parse("127.8.8.8:1")->is_loopback());
  EXPECT_TRUE(Address::loopback(AF_INET6).is_loopback());
  EXPECT_FALSE(Address::parse("128.0.0.1:1")->is_loopback());
  EXPECT_TRUE(Address::parse("[fe80::1]:1")->is_link_local());
  EXPECT_TRUE(Address::parse("169.254.1.1:1")->is_link_local());
  EXPECT_FALSE(Address::parse("[2001:db8::1]:1")->is_link_local());
  EXPECT_TRUE(Address::parse("[::]:1")->is_any());
  EXPECT_TRUE(Address::parse("0.0.0.0:1")->is_any());
  EXPECT_FALSE(Address().has_value());
  EXPECT_EQ(Address::loopback(AF_INET, 7).with_port(9).to_string(), "127.0.0.1:9");
}

TEST(Address, NamesAreResolved) {
  EXPECT_EQ(resolve("127.0.0.1", 80)->to_string(), "127.0.0.1:80");
  EXPECT_EQ(resolve("::1", 80)->to_string(), "[::1]:80");
  EXPECT_EQ(resolve("", 80).error().code, Code::kBadAddress);
}

TEST(Interfaces, LoopbackIsListedOnceForEachAddress) {
  const auto all = list_interfaces();
  ASSERT_TRUE(all);
  int loopbacks = 0;
  for (const Interface& each : *all) {
    EXPECT_FALSE(each.name.empty());
    if (each.address == Address::loopback(AF_INET)) ++loopbacks;
  }
  EXPECT_EQ(loopbacks, 1);
}

}  // namespace
}  // namespace commrig
