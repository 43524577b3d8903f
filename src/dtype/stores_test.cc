// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "dtype/stores.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace commrig::dtype {
namespace {

TEST(Stores, StreamOnlyWhatTheLastLevelCacheCannotHold) {
  const std::size_t cache = last_level_cache_bytes();
  EXPECT_GT(cache, 0U);
  EXPECT_EQ(stores_for(0), Stores::kOrdinary);
  EXPECT_EQ(stores_for(cache), Stores::kOrdinary);
  EXPECT_EQ(stores_for(cache + 1), Stores::kStreaming);
}

TEST(Stores, CopiesAtAnyLengthAndStartAreExactAndWriteNothingBeside) {
  constexpr std::size_t kMost = 130;
  constexpr unsigned char kUntouched = 0;
  std::vector<unsigned char> source(2 * kMost + 600);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<unsigned char>(i % 255 + 1);
  }
  std::vector<unsigned char> target(source.size());
  for (const Stores stores : {Stores::kOrdinary, Stores::kStreaming}) {
    for (std::size_t start = 0; start <= kMost; ++start) {
      for (const std::size_t extra : {0U, 500U}) {
        for (std::size_t length = extra; length <= extra + kMost; ++length) {
          const std::size_t target_start = (start * 5 + length) % kMost;
          std::fill(target.begin(), target.end(), kUntouched);
          copy(target.data() + target_start, source.data() + start, length, stores);
          ASSERT_EQ(std::memcmp(target.data() + target_start, source.data() + start, length), 0);
          const auto written = static_cast<std::size_t>(
              std::count_if(target.begin(), target.end(), [](auto byte) { return byte != 0; }));
          ASSERT_EQ(written, length) << "from " << start << " to " << target_start;
        }
      }
    }
  }
  copy(nullptr, nullptr, 0, Stores::kStreaming);
}

}  // namespace
}  // namespace commrig::dtype
