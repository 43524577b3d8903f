// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/known_root.h"

#include <gtest/gtest.h>

namespace commrig::bootstrap {
namespace {

TEST(KnownRoot, AllWhoAreToldTheSameMakeTheSameId) {
  const auto id = known_root("192.0.2.1:4711");
  ASSERT_TRUE(id) << to_string(id.error());
  EXPECT_EQ(id->to_string(), "0280028002800280@192.0.2.1:4711");
  EXPECT_EQ(*id, *known_root("192.0.2.1:4711"));
  EXPECT_TRUE(is_known_root(*id));
  EXPECT_EQ(known_root("[2001:db8::1]:80")->to_string(), "0280028002800280@[2001:db8::1]:80");
}

TEST(KnownRoot, HostsAreLookedUp) {
  const auto id = known_root("localhost:80");
  ASSERT_TRUE(id) << to_string(id.error());
  EXPECT_TRUE(id->root().is_loopback());
  EXPECT_EQ(id->root().port(), 80);
}

TEST(KnownRoot, AnIdOfARunningRootIsOfAnotherKind) {
  EXPECT_FALSE(is_known_root(UniqueId(1, Address::loopback(AF_INET, 80))));
}

TEST(KnownRoot, OtherTextsAreRefused) {
  for (const char* const text :
       {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:70000", "192.0.2.1:-1",
        "192.0.2.1:8x", "localhost", "localhost:", "localhost:0", ":80", "[::1]", "[::1:80",
        "[::1]:0", "two words:80"}) {
    const auto id = known_root(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code, Code::kBadAddress) << text;
  }
}

}  // namespace
}  // namespace commrig::bootstrap
