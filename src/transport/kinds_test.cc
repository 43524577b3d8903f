// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/kinds.h"

#include <gtest/gtest.h>

namespace commrig::transport {
namespace {

TEST(LinkKinds, TheNearestKindIsChosen) {
  EXPECT_EQ(choose_link_kind(Nearness::kSameRank).name, "self");
  EXPECT_EQ(choose_link_kind(Nearness::kSameProcess).name, "thread");
  EXPECT_EQ(choose_link_kind(Nearness::kSameHost).name, "shm");
  EXPECT_EQ(choose_link_kind(Nearness::kAnywhere).name, "tcp");
}

TEST(LinkKinds, EachIsFoundByItsNameAndStandsInOrder) {
  Nearness last = Nearness::kSameRank;
  for (const LinkKind& kind : all_link_kinds()) {
    EXPECT_EQ(find_link_kind(kind.name), &kind);
    EXPECT_GE(kind.needs, last);
    last = kind.needs;
  }
  EXPECT_EQ(find_link_kind("pigeon"), nullptr);
}

}  // namespace
}  // namespace commrig::transport
