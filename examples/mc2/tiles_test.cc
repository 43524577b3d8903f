// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/tiles.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace commrig::operators {
namespace {

TEST(Tiles, CountsTilesAndTheMessagesThatCarryThem) {
  EXPECT_EQ(tiles_of(8, 8), 1U);
  EXPECT_EQ(tiles_of(9, 8), 2U);
  EXPECT_EQ(tiles_of(7, SIZE_MAX), 1U);
  EXPECT_EQ(messages_of(255, 1), 1U);
  EXPECT_EQ(messages_of(256, 1), 2U);
  EXPECT_EQ(messages_of(255 * 3 + 2, 3), 2U);
  EXPECT_EQ(messages_of(7, SIZE_MAX), 1U);
}

TEST(Tiles, MoreThanAllMessagesHaveTurnsAreRefused) {
  const mc2::Layout& layout = **mc2::find_layout("upstream-64");
  EXPECT_TRUE(check_tiles(255 * 63, 1, layout).has_value());
  EXPECT_FALSE(check_tiles(255 * 63 + 1, 1, layout).has_value());
  EXPECT_TRUE(check_tiles(255 * 63 + 1, 2, layout).has_value());
}

}  // namespace
}  // namespace commrig::operators
