// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/matmul.h"

#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace commrig::operators {
namespace {

TEST(Matmul, StaysWithinTheBoundOfFp32SummationForOddShapes) {
  const std::uint64_t seed = seed_from_environment(5);
  SCOPED_TRACE("COMMRIG_SEED=" + std::to_string(seed));
  Rng rng(seed);
  for (const auto& [m, k, n] : {std::tuple<std::size_t, std::size_t, std::size_t>{1, 1, 1},
                                {1, 7, 1},
                                {3, 1, 5},
                                {13, 65, 17},
                                {32, 128, 48}}) {
    std::vector<float> a(m * k);
    std::vector<float> b(k * n);
    for (float& value : a) value = static_cast<float>(2 * rng.uniform() - 1);
    for (float& value : b) value = static_cast<float>(2 * rng.uniform() - 1);
    std::vector<float> c(m * n, -7);
    ASSERT_TRUE(matmul(a.data(), b.data(), c.data(), m, k, n).has_value());
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        double expected = 0;
        double magnitude = 0;
        for (std::size_t i = 0; i < k; ++i) {
          const double product = double{a[row * k + i]} * double{b[i * n + column]};
          expected += product;
          magnitude += std::abs(product);
        }
        ASSERT_NEAR(c[row * n + column], expected,
                    static_cast<double>(k + 1) * 0x1p-24 * magnitude);
      }
    }
  }
}

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Matmul, StartsNoThreads) {
  constexpr std::size_t kSide = 300;
  const std::vector<float> a(kSide * kSide, 1);
  std::vector<float> c(kSide * kSide);
  // Counted on the thread that multiplies: a sanitizer starts one of its own with the first thread.
  const auto multiply = [&] {
    const std::ptrdiff_t before = threads_of_process();
    ASSERT_TRUE(matmul(a.data(), a.data(), c.data(), kSide, kSide, kSide).has_value());
    EXPECT_EQ(c.back(), kSide);
    EXPECT_EQ(threads_of_process(), before);
  };
  multiply();
  // The number of threads belongs to the caller, so a second caller must set it, too.
  std::thread(multiply).join();
}

}  // namespace
}  // namespace commrig::operators
