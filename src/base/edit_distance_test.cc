// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace commrig {
namespace {

TEST(EditDistanceTest, CountsWhatMustBeChanged) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("rank", "rank"), 0U);
  EXPECT_EQ(edit_distance("", "rank"), 4U);
  EXPECT_EQ(edit_distance("rank", "ranks"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

}  // namespace
}  // namespace commrig
