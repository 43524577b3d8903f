// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/handles.h"

#include <gtest/gtest.h>

namespace commrig::rig {
namespace {

TEST(Handles, AHandleIsFoundUntilItIsRemovedOnce) {
  Handles<int> table(3);
  void* const handle = table.add(std::make_shared<int>(7));
  ASSERT_NE(table.find(handle), nullptr);
  EXPECT_EQ(*table.find(handle), 7);
  EXPECT_NE(table.remove(handle), nullptr);
  EXPECT_EQ(table.remove(handle), nullptr);
  EXPECT_EQ(table.find(handle), nullptr);
}

TEST(Handles, ARemovedHandleIsNotGivenAgainAndIsKnownToHaveBeen) {
  Handles<int> table(3);
  void* const first = table.add(std::make_shared<int>(1));
  table.remove(first);
  EXPECT_TRUE(table.was_given(first));
  EXPECT_NE(table.add(std::make_shared<int>(2)), first);
}

TEST(Handles, ForeignAndInventedOnesAreNotFound) {
  Handles<int> table(3);
  Handles<int> other(5);
  void* const foreign = other.add(std::make_shared<int>(1));
  int local = 0;
  for (const void* handle : {static_cast<const void*>(nullptr), static_cast<const void*>(foreign),
                             static_cast<const void*>(&local)}) {
    EXPECT_EQ(table.find(handle), nullptr) << handle;
    EXPECT_FALSE(table.was_given(handle)) << handle;
  }
}

}  // namespace
}  // namespace commrig::rig
