// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/events.h"

#include <gtest/gtest.h>

namespace commrig {
namespace {

TEST(EventStream, ReachesSubscribersOnlyWhileTheyAreSubscribed) {
  EventStream stream;
  EventRecorder recorder;
  stream.publish({.name = "before"});
  stream.subscribe(recorder);
  EXPECT_TRUE(stream.active());
  stream.publish({.name = "during", .rank = 3, .a = 7});
  stream.unsubscribe(recorder);
  EXPECT_FALSE(stream.active());
  stream.publish({.name = "after"});
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(events[0].name, "during");
  EXPECT_EQ(events[0].rank, 3);
  EXPECT_EQ(events[0].a, 7);
}

}  // namespace
}  // namespace commrig
