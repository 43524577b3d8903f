// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/unique_id.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "bootstrap/hash.h"

namespace commrig::bootstrap {
namespace {

using testing::HasSubstr;

UniqueId::Bytes bytes_of(std::initializer_list<unsigned char> head) {
  UniqueId::Bytes bytes{};
  std::ranges::transform(head, bytes.begin(), [](unsigned char c) { return std::byte{c}; });
  return bytes;
}

// The number 0x0807060504030201, then a sockaddr_in of 192.0.2.9 port 0x1234.
const UniqueId::Bytes kV4 = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0x12, 0x34, 192, 0, 2, 9});

TEST(UniqueId, BytesHaveTheLayoutOfTheModernGeneration) {
  const UniqueId id(0x0807060504030201, *Address::parse("192.0.2.9:4660"));
  EXPECT_EQ(id.bytes(), kV4);
  const auto read = UniqueId::from_bytes(kV4);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, id);
  EXPECT_EQ(read->magic(), 0x0807060504030201U);
  EXPECT_EQ(read->root().to_string(), "192.0.2.9:4660");
}

TEST(UniqueId, Ipv6LiesAtTheSamePlace) {
  auto bytes = bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 80, 0, 0, 0, 0, 0xfe, 0x80});
  bytes[31] = std::byte{7};  // last byte of fe80::7
  bytes[32] = std::byte{3};  // its interface
  const auto id = UniqueId::from_bytes(bytes);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->to_string(), "0000000000000001@[fe80::7%3]:80");
  EXPECT_EQ(*UniqueId::parse(id->to_string()), *id);
  EXPECT_EQ(id->bytes(), bytes);
}

TEST(UniqueId, HashGoesOverAllBytes) {
  std::uint64_t hash = 5381;
  for (const std::byte byte : kV4) hash = hash * 33 + std::to_integer<unsigned>(byte);
  EXPECT_EQ(UniqueId::from_bytes(kV4)->hash(), hash);
  EXPECT_EQ(djb2(std::string_view("a")), 5381U * 33 + 'a');
}

TEST(UniqueId, TextIsReadAsItIsWritten) {
  const UniqueId id = *UniqueId::from_bytes(kV4);
  EXPECT_EQ(id.to_string(), "0807060504030201@192.0.2.9:4660");
  EXPECT_EQ(*UniqueId::parse(id.to_string()), id);
}

TEST(UniqueId, MalformedTextsAreRefusedWithTheReason) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& each :
       {Case{"", "no @"}, Case{"0807060504030201", "no @"}, Case{"1@1.2.3.4:5", "16 hexadecimal"},
        Case{"080706050403020g@1.2.3.4:5", "16 hexadecimal"},
        Case{"-807060504030201@1.2.3.4:5", "16 hexadecimal"},
        Case{"08070605040302011@1.2.3.4:5", "16 hexadecimal"},
        Case{"0807060504030201@1.2.3.4", "no port"}, Case{"0807060504030201@1.2.3.4:0", "no port"},
        Case{"0807060504030201@0.0.0.0:5", "is no address"}}) {
    const auto id = UniqueId::parse(each.text);
    ASSERT_FALSE(id) << each.text;
    EXPECT_EQ(id.error().code, Code::kBadUniqueId);
    EXPECT_THAT(id.error().message, HasSubstr(each.reason)) << each.text;
  }
}

TEST(UniqueId, BytesThatNoRootHasMadeAreRefusedWithTheReason) {
  EXPECT_THAT(UniqueId::from_bytes(UniqueId::Bytes{}).error().message,
              HasSubstr("all of its bytes are zero"));
  auto bytes = kV4;
  bytes[8] = std::byte{99};
  EXPECT_THAT(UniqueId::from_bytes(bytes).error().message, HasSubstr("family 99"));
  bytes = kV4;
  bytes[36] = std::byte{0x2a};
  EXPECT_THAT(UniqueId::from_bytes(bytes).error().message, HasSubstr("byte 36 is 0x2a"));
  bytes = kV4;
  bytes[10] = bytes[11] = std::byte{0};
  EXPECT_THAT(UniqueId::from_bytes(bytes).error().message, HasSubstr("no port"));
}

TEST(UniqueId, AnyBytesAreReadBackOrRefused) {
  const std::uint64_t seed = seed_from_environment(20'250'301);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = kV4;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[rng.below(round % 2 == 0 ? 16 : bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    if (const auto id = UniqueId::from_bytes(bytes)) {
      ++read;
      ASSERT_EQ(id->bytes(), bytes);
      ASSERT_EQ(*UniqueId::parse(id->to_string()), *id);
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace commrig::bootstrap
